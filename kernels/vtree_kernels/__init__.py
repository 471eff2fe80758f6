"""The inner loops of vtree: each a contract, a reference over the array API, and native twins.

Kernels take and return bare arrays and numbers and know nothing of `vtree`. Letters of the shapes:
N rows of the table, R rows in play, G features of a group, B codes, S statistics, L nodes, T trees.
"""

from vtree_kernels import _cuda as cuda
from vtree_kernels._dispatch import kernels, mode
from vtree_kernels._memory import freed_memory_kept, give_back
from vtree_kernels._pages import own_pages
from vtree_kernels._threads import ahead, run_blocks, threads
from vtree_kernels._threads import allowed as allowed_threads
from vtree_kernels._threads import available as available_threads
from vtree_kernels._threads import run as run_tasks

__all__ = [
    "ahead",
    "allowed_threads",
    "available_threads",
    "cuda",
    "freed_memory_kept",
    "give_back",
    "kernels",
    "mode",
    "own_pages",
    "run_blocks",
    "run_tasks",
    "threads",
]
