"""Find what the classes of a derived module inherit and reach, across modules.

Comes in: trees and module texts. Goes out: members by class, and names that nothing defines. May touch: the trees, by
reading.

- ``hierarchy`` and ``module_texts`` for inheritance and conditional bases; ``whole_classes`` reads an upstream class
  with what it inherits, ``renamed_classes`` under its old name, ``whole_twins`` a GPU runner and ``parted_runners`` an
  NPU runner with what moved out of it, ``imported_definitions`` a module with functions that did, and ``real_places``
  says where that stands; they use ``completing``; ``copied_definitions`` notes what is not followed;
- ``undefined`` for attributes that nothing sets, ``device_code`` for calls that do nothing without a GPU.
"""
