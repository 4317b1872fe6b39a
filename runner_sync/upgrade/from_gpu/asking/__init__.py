"""Asks about what a person must review in a port, besides doubts of the merge itself.

Comes in: drafts with a port in them. Goes out: the drafts with questions. May touch: nothing.

- About ported code: ``ported_passages`` asks about each passage and splits it by ``features`` where a mixin comes.
  ``call_fit`` asks about calls that no longer fit, ``untranslated`` about remaining GPU names. ``unconfirmed`` names
  NPU names that a release may lack, ``no_longer_passed`` arguments that a call loses, ``lost_results`` attributes that
  would keep what a method no longer returns, ``other_branches`` branches that only NPU has around a statement;
- About code that stayed: ``left_standing`` asks about statements that omni removed on the GPU side only, ``once_more``
  about one more occurrence of a statement that the twin changed everywhere, ``other_uses`` about places where only the
  twin uses a new member. ``helpers_shown`` shows helpers that the twin calls instead.
"""
