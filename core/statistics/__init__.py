"""Intervals, paired tests, agreement, groups and comparisons (docs/measuring.md §6). The ground floor: it imports
nothing of ours, and heavy libraries only where they are used.
"""

from core.statistics.agreement import Agreement as Agreement
from core.statistics.agreement import kappa as kappa
from core.statistics.agreement import weighted_kappa as weighted_kappa
from core.statistics.anytime import anytime as anytime
from core.statistics.audit import Stratum as Stratum
from core.statistics.audit import allotted as allotted
from core.statistics.audit import weighted_share as weighted_share
from core.statistics.beta import beta_pairs as beta_pairs
from core.statistics.bootstrap import bootstrap_of_mean as bootstrap_of_mean
from core.statistics.bootstrap import jackknife_of_pairs as jackknife_of_pairs
from core.statistics.correlation import correlation_per_input as correlation_per_input
from core.statistics.groups import group_statistics as group_statistics
from core.statistics.interval import Interval as Interval
from core.statistics.means import interval_of_items as interval_of_items
from core.statistics.means import interval_of_trials as interval_of_trials
from core.statistics.means import kind_of as kind_of
from core.statistics.multiverse import Multiverse as Multiverse
from core.statistics.multiverse import multiverse as multiverse
from core.statistics.noninferior import LEVEL as LEVEL
from core.statistics.noninferior import MARGIN as MARGIN
from core.statistics.noninferior import NotWorse as NotWorse
from core.statistics.noninferior import not_worse as not_worse
from core.statistics.paired import Comparison as Comparison
from core.statistics.paired import compare as compare
from core.statistics.paired import holm as holm
from core.statistics.paired import sign_flips as sign_flips
from core.statistics.planning import items_for_difference as items_for_difference
from core.statistics.planning import items_for_power as items_for_power
from core.statistics.planning import items_for_width as items_for_width
from core.statistics.planning import power_of_differences as power_of_differences
from core.statistics.planning import power_of_pairs as power_of_pairs
from core.statistics.shares import ENOUGH as ENOUGH
from core.statistics.shares import FEW as FEW
from core.statistics.shares import Z as Z
from core.statistics.shares import difference_of_pairs as difference_of_pairs
from core.statistics.shares import exact_difference_of_pairs as exact_difference_of_pairs
from core.statistics.shares import is_thin as is_thin
from core.statistics.shares import mcnemar as mcnemar
from core.statistics.shares import most_errors as most_errors
from core.statistics.shares import tail_of_binomial as tail_of_binomial
from core.statistics.shares import wilson as wilson
from core.statistics.subjects import Pair as Pair
from core.statistics.subjects import compare_pairs as compare_pairs
