"""Flatten the text of one unit into a sequence of statement nodes.

Comes in: the source text of a unit (a method, a class, a whole module body), at any indentation. Goes out: ``Node``
values in source order, each a statement head, a clause (``else:``), or a comment line, with the index of its enclosing
node. May touch: nothing.

Nodes are compared by ``canon``, the ``ast.unparse`` text of the statement (for a compound one, of its head), so that
layout, quotes and indentation never make two statements differ. A node does not store its indentation, because that
follows from the enclosing nodes. So a region that upstream wrapped into a new ``with`` still aligns line by line.

Submodules are imported on first use, so that ``check`` loads few of them.

- ``parsing``, ``tokenizing`` and ``flattening`` make the ``nodes``, each with its ``canonical`` text (``hints`` and
  ``keywords`` bring two spellings to one) and its ``facts``;
- ``dataflow``, ``surroundings`` and ``likeness`` answer questions about nodes;
- ``assigning``, ``calls``, ``leaving``, ``mentioning``, ``parents`` and ``suites`` answer questions about ``ast``
  statements, ``negating`` turns a condition round, and ``renaming`` finds the new name of a member.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader

if TYPE_CHECKING:
    from runner_sync.statements.flattening import canons, flatten, flatten_function, flatten_sides, nested_canons
    from runner_sync.statements.leaving import (
        always_leaves,
        cut_off,
        is_endless,
        may_swallow,
        swallowers_named,
        takes_all,
        yields,
    )
    from runner_sync.statements.mentioning import Mention, bound_anywhere, bound_in, mentions, parameters
    from runner_sync.statements.nodes import EXITS, INDENT, JUMPS, ROOT, WRAPPERS, Node, UnparsableText
    from runner_sync.statements.parsing import (
        as_module,
        before_clause,
        compiles,
        first_function,
        is_python,
        parse_function,
        parse_unit,
        parses,
        tree_of,
    )
    from runner_sync.statements.surroundings import (
        ancestors,
        below,
        clauses,
        enclosing,
        in_suite,
        lines_of,
        said,
        siblings,
    )
    from runner_sync.statements.tokenizing import (
        CLOSERS,
        OPENERS,
        code_of,
        comments_in,
        inside_strings,
        last_comment,
        tokens,
    )

__all__ = [
    "CLOSERS",
    "EXITS",
    "INDENT",
    "JUMPS",
    "OPENERS",
    "ROOT",
    "WRAPPERS",
    "Mention",
    "Node",
    "UnparsableText",
    "always_leaves",
    "ancestors",
    "as_module",
    "before_clause",
    "below",
    "bound_anywhere",
    "bound_in",
    "canons",
    "clauses",
    "code_of",
    "comments_in",
    "compiles",
    "cut_off",
    "enclosing",
    "first_function",
    "flatten",
    "flatten_function",
    "flatten_sides",
    "in_suite",
    "inside_strings",
    "is_endless",
    "is_python",
    "last_comment",
    "lines_of",
    "may_swallow",
    "mentions",
    "nested_canons",
    "parameters",
    "parse_function",
    "parse_unit",
    "parses",
    "said",
    "siblings",
    "swallowers_named",
    "takes_all",
    "tokens",
    "tree_of",
    "yields",
]

_MODULES = {
    "flattening": "canons flatten flatten_function flatten_sides nested_canons",
    "leaving": "always_leaves cut_off is_endless may_swallow swallowers_named takes_all yields",
    "mentioning": "bound_anywhere bound_in Mention mentions parameters",
    "nodes": "EXITS INDENT JUMPS Node ROOT UnparsableText WRAPPERS",
    "parsing": "as_module before_clause compiles first_function is_python parse_function parse_unit parses tree_of",
    "surroundings": "ancestors below clauses enclosing in_suite lines_of said siblings",
    "tokenizing": "CLOSERS code_of comments_in inside_strings last_comment OPENERS tokens",
}

__getattr__ = part_loader(__name__, _MODULES)
