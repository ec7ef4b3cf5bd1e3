package weir.fiber

/** An instruction or a frame of the continuation stack, which the interpreter switches on.
  *
  * The tag is a field and not a virtual method, so that the switch costs one load.
  */
private[weir] abstract class Node(final val tag: Int)

private[weir] object Tag:
  // instructions
  final val Pure = 0
  final val Fail = 1
  final val Delay = 2
  final val Defer = 3
  final val Mapped = 4
  final val FlatMap = 5
  final val Attempt = 6
  final val Handle = 7
  final val OnCancel = 8
  final val Suspend = 9
  final val Cede = 10
  final val Start = 11
  final val Canceled = 12
  final val Uncancelable = 13
  final val Unmasked = 14
  final val DirectCode = 15
  final val BeginFrame = 16
  final val BeginFrameMasked = 17
  final val Uninterruptible = 18
  final val Leave = 19

  // frames that are not instructions
  final val RemoveMask = 20
  final val Frame = 21
  final val HandlingFrame = 22
  final val Unwind = 23
