package weir.fiber

import weir.WeirRuntime

/** The continuation stack of a fiber, and the masks that are on.
  *
  *   - **The stack** holds nodes: instructions that wait for their source's result, and frames. It
  *     is the whole state of a suspended fiber; no part of that is on the JVM's stack.
  *   - **Masks**: `masks` counts those that are on. A cancel is noticed only at 0, and the
  *     interrupt gate is open only then. The mask of an `uncancelable` is a `Mask`, which is also
  *     its poll.
  */
private[weir] abstract class FiberStack(runtime: WeirRuntime) extends FiberCore(runtime):

  // owner only
  private var stack: Array[Node | Null] = FiberStack.empty
  final private[fiber] var size: Int = 0

  /** The number of masks that are on. */
  final private[weir] var masks: Int = 0

  /** The innermost mask that has a frame and has not been removed, if it is a mask of
    * `uncancelable`.
    */
  final private[fiber] var innermostMask: Mask | Null = null

  /** True from the moment at which a cancel begins to unwind the stack. One mask stays on from
    * then.
    */
  final private[weir] var finalizing: Boolean = false

  final private[weir] def push(frame: Node): Unit =
    if size == stack.length then
      stack = java.util.Arrays.copyOf(stack, if size == 0 then 4 else size * 2)
    stack(size) = frame
    size += 1

  final private[weir] def pop(): Node =
    size -= 1
    val frame = stack(size)
    stack(size) = null
    frame.nn

  /** Returns true if `node` is on top of the stack, above `base`. */
  final protected def isOnTop(node: Node, base: Int): Boolean =
    size > base && (stack(size - 1) eq node)

  /** Takes over the masks of `other`, whose polls then work in this fiber. Call it before the fiber
    * is queued.
    */
  final private[fiber] def adoptMasks(other: FiberStack): Unit =
    masks = other.masks
    innermostMask = other.innermostMask
    finalizing = other.finalizing

  /** Drops the stack at the end of the fiber, so that references to the fiber keep nothing of it
    * alive.
    */
  final protected def dropStack(): Unit = stack = FiberStack.empty

  /** Drops the frames above `height` without running them, and restores the masks that were on
    * then.
    */
  final protected def dropTo(height: Int, masksBefore: Int, maskBefore: Mask | Null): Unit =
    while size > height do pop(): Unit
    innermostMask = maskBefore
    while masks > masksBefore && !finalizing do removeMask()
    while masks < masksBefore do addMask()

  /** Returns at most `limit` frames, the innermost first. A frame is null if another thread has
    * changed the stack meanwhile.
    */
  final private[weir] def topFrames(limit: Int): IndexedSeq[Node | Null] =
    val frames = stack
    val top = math.min(size, frames.length)
    (1 to math.min(top, limit)).map(i => frames(top - i))

  /** Returns the outermost frame, or null. May be called by another thread, as `topFrames`. */
  final private[weir] def bottomFrame: Node | Null =
    val frames = stack
    if frames.length > 0 then frames(0) else null

  /** Returns true if the fiber has to begin to unwind now. */
  final private[weir] def shouldCancel: Boolean = cancelRequested && masks == 0

  final def addMask(): Unit =
    if masks == 0 then closeInterruptGate()
    masks += 1

  final def removeMask(): Unit =
    // While finalizing, one mask stays, also if a cancel has ended masked code half-way.
    if masks > 1 || !finalizing then
      masks -= 1
      if masks == 0 then openInterruptGate()

  /** Must be called before code that a cancel must not interrupt. Costs an atomic operation only if
    * the code before it was interruptible.
    */
  final private[fiber] def beginUninterruptible(): Unit =
    if masks == 0 && !isShut then shutInterruptGate()

  /** Must be called before code that a cancel may interrupt. */
  final private[fiber] def beginInterruptible(): Unit =
    if isShut && masks == 0 then reopenInterruptGate()

  /** Adds the mask of an `uncancelable`, which has no frame yet: see `pushMask`. */
  final protected def addNewMask(): Mask =
    val mask = Mask(masks + 1, innermostMask)
    addMask()
    mask

  final protected def pushMask(mask: Mask): Unit =
    innermostMask = mask
    push(mask)

  /** Ends the body of `mask`. */
  final protected def endMask(mask: Mask): Unit =
    innermostMask = mask.outer
    removeMask()

  /** Ends the task that the poll of `mask` has unmasked. */
  final protected def restoreMask(mask: Mask): Unit =
    innermostMask = mask
    addMask()

private[weir] object FiberStack:
  private val empty: Array[Node | Null] = new Array[Node | Null](0)
