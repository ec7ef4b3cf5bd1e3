package weir.stream

import java.lang.classfile.{ClassBuilder, ClassFile, CodeBuilder, Label, TypeKind}
import java.lang.constant.ClassDesc
import java.lang.constant.ConstantDescs.{
  CD_Object,
  CD_boolean,
  CD_double,
  CD_float,
  CD_int,
  CD_long,
  CD_void
}
import java.lang.constant.MethodTypeDesc
import java.lang.invoke.MethodHandles
import java.lang.reflect.AccessFlag
import weir.Task
import weir.fiber.{Delay, TaskFiber}

/** Makes the class of a fused run: a `FusedPull` whose `next` is one loop over all steps.
  *
  * For the steps `map(f)`, `filter(g)` and `scan(z)(h)`, the loop would be in Scala:
  * {{{
  * def next(fiber) =
  *   while true do
  *     if flag2 then { flag2 = false; return state2 }   // the steps that resume, the last first
  *     val v0 = source.next(fiber)
  *     if v0 eq Pull.End then return v0
  *     val v1 = f0(v0)
  *     if g1(v1) then
  *       state2 = h2(state2, v1)
  *       return state2
  * }}}
  *
  * A step is two pieces of code: one that handles an element, and, for some steps, one at the top
  * of the loop before upstream is asked. There, a step that has elements left returns one, and a
  * step that has ended ends the loop. As in a chain of pulls, the last step is asked first.
  *
  * A function that Scala has compiled for numbers is called as such, so there is no box between two
  * of them.
  */
private[stream] object FusedClass:
  /** Returns a pull of a new class for runs with this source and these steps. It has no source. */
  def of(source: Pull, steps: Array[Step]): FusedPull =
    val bytes = ClassFile
      .of()
      .build(
        self,
        builder => FusedClass(SourceKind.of(source), steps).write(builder)
      )
    MethodHandles.lookup
      .defineHiddenClass(bytes, true)
      .lookupClass
      .getDeclaredConstructor()
      .newInstance()
      .asInstanceOf[FusedPull]

  /** The way to get elements from the source: from its iterator, which is made in the first `next`;
    * from the iterators that a composite lends, one after the other; or by `next`.
    */
  private[stream] enum SourceKind:
    case Iterated, Composed, Pulled

  private[stream] object SourceKind:
    def of(source: Pull): SourceKind = source match
      case _: IteratorSource[?] => Iterated
      case _: CompositePull => Composed
      case _ => Pulled

  private val self = ClassDesc.of("weir.stream.Fused")

  private def described(of: Class[?]): ClassDesc = of.describeConstable.get

  private val fusedPull = described(classOf[FusedPull])
  private val pull = described(classOf[Pull])
  private val step = described(classOf[Step])
  private val iteratorSource = described(classOf[IteratorSource[?]])
  private val compositePull = described(classOf[CompositePull])
  private val fiber = described(classOf[TaskFiber])
  private val task = described(classOf[Task[?]])
  private val delay = described(classOf[Delay[?]])
  private val throwable = described(classOf[Throwable])
  private val iterator = described(classOf[Iterator[?]])
  private val iterableOnce = described(classOf[IterableOnce[?]])
  private val function1 = described(classOf[Any => Any])
  private val function2 = described(classOf[(Any, Any) => Any])
  private val partialFunction = described(classOf[PartialFunction[?, ?]])
  private val tuple2 = described(classOf[(Any, Any)])
  private val boxes = described(classOf[scala.runtime.BoxesRunTime])
  private val boxedUnit = described(classOf[scala.runtime.BoxedUnit])
  private val listBuffer = described(classOf[scala.collection.mutable.ListBuffer[?]])
  private val list = described(classOf[List[?]])
  private val end = described(Pull.End.getClass)
  private val undefined = described(CollectStage.Undefined.getClass)

  /** The form of a value on the stack. The letter is Scala's, for its specialized functions. */
  private enum Kind(val letter: Char, val desc: ClassDesc, val kind: TypeKind, val name: String):
    case Ref extends Kind('L', CD_Object, TypeKind.REFERENCE, "")
    case Int extends Kind('I', CD_int, TypeKind.INT, "Int")
    case Long extends Kind('J', CD_long, TypeKind.LONG, "Long")
    case Double extends Kind('D', CD_double, TypeKind.DOUBLE, "Double")
    case Float extends Kind('F', CD_float, TypeKind.FLOAT, "Float")
    case Boolean extends Kind('Z', CD_boolean, TypeKind.BOOLEAN, "Boolean")

  private object Kind:
    def of(letter: Char): Option[Kind] = values.find(kind => kind.letter == letter && kind != Ref)

  /** The call of a function: `apply`, or a method that Scala has compiled for numbers. */
  private final case class Call(
      owner: ClassDesc,
      name: String,
      parameters: List[Kind],
      result: Kind
  ):
    def signature: MethodTypeDesc = MethodTypeDesc.of(result.desc, parameters.map(_.desc)*)

  /** Returns the call of `function`. Scala's lambdas of numbers implement an interface such as
    * `JFunction1$mcII$sp`, whose name has the result and the parameters.
    */
  private def callOf(function: AnyRef, owner: ClassDesc, arity: Int): Call =
    val prefix = s"scala.runtime.java8.JFunction$arity$$mc"
    val specialized = function.getClass.getInterfaces.iterator
      .map(_.getName)
      .find(_.startsWith(prefix))
      .flatMap { name =>
        val letters = name.drop(prefix.length).takeWhile(_ != '$')
        val kinds = letters.toList.flatMap(Kind.of)
        Option.when(kinds.length == arity + 1)(
          Call(owner, s"apply$$mc$letters$$sp", kinds.tail, kinds.head)
        )
      }
    specialized.getOrElse(Call(owner, "apply", List.fill(arity)(Kind.Ref), Kind.Ref))

private final class FusedClass(source: FusedClass.SourceKind, steps: Array[Step]):
  import FusedClass.*

  private val hasItems = source != SourceKind.Pulled

  private val last = steps.lastOption.collect { case end: Step.End => end }

  private def f(index: Int) = s"f$index"
  private def state(index: Int) = s"state$index"

  private def calls(index: Int): Call = steps(index) match
    case step: (Step.Scan | Step.Fold) =>
      val call = callOf(step.function.nn, function2, 2)
      if call.result == call.parameters.head then call
      else Call(function2, "apply", List(Kind.Ref, Kind.Ref), Kind.Ref)
    case _: Step.MapAccumulate => Call(function2, "apply", List(Kind.Ref, Kind.Ref), Kind.Ref)
    case step: (Step.Filter | Step.TakeWhile | Step.TakeThrough | Step.DropWhile) =>
      val call = callOf(step.function.nn, function1, 1)
      if call.result == Kind.Boolean then call
      else Call(function1, "apply", List(Kind.Ref), Kind.Ref)
    case step: Step.Map => callOf(step.function.nn, function1, 1)
    case _ => Call(function1, "apply", List(Kind.Ref), Kind.Ref)

  private val call: Array[Call] = Array.tabulate(steps.length)(calls)

  /** Returns the type of the state that a step keeps from element to element. */
  private def stateKind(index: Int): Option[(ClassDesc, Kind)] = steps(index) match
    case _: (Step.Take | Step.Drop | Step.ZipWithIndex) => Some((CD_long, Kind.Long))
    case _: Step.Scan => Some((call(index).result.desc, call(index).result))
    case _: (Step.MapAccumulate | Step.Changes) => Some((CD_Object, Kind.Ref))
    case _: Step.MapConcat => Some((iterator, Kind.Ref))
    case _ => None

  private def functionType(index: Int): Option[ClassDesc] = steps(index) match
    case _: (Step.Scan | Step.Fold | Step.MapAccumulate) => Some(function2)
    case _: Step.Collect => Some(partialFunction)
    case step => Option.when(step.function != null)(function1)

  /** Returns true if a step has a flag, which is true at first: a scan has not begun, elements are
    * dropped, elements are taken.
    */
  private def hasFlag(index: Int): Boolean = steps(index) match
    case _: (Step.Scan | Step.DropWhile | Step.TakeWhile | Step.TakeThrough) => true
    case _ => false

  def write(builder: ClassBuilder): Unit =
    builder.withSuperclass(fusedPull).withFlags(AccessFlag.FINAL, AccessFlag.SYNTHETIC): Unit
    def field(name: String, desc: ClassDesc): Unit = builder.withField(name, desc, 0): Unit
    for index <- steps.indices do
      functionType(index).foreach(field(f(index), _))
      stateKind(index).foreach((desc, _) => field(state(index), desc))
      if hasFlag(index) then field(s"flag$index", CD_boolean)
    if hasItems then field("items", iterator)
    def method(name: String, result: ClassDesc, parameters: ClassDesc*)(code: CodeBuilder => Unit) =
      builder.withMethodBody(
        name,
        MethodTypeDesc.of(result, parameters*),
        ClassFile.ACC_PUBLIC,
        code(_)
      )
    method("<init>", CD_void) { code =>
      code.aload(0).invokespecial(fusedPull, "<init>", MethodTypeDesc.of(CD_void)).return_(): Unit
    }: Unit
    method("fresh", fusedPull) { code =>
      code
        .new_(self)
        .dup()
        .invokespecial(self, "<init>", MethodTypeDesc.of(CD_void))
        .areturn(): Unit
    }: Unit
    method("begin", CD_void, step.arrayType)(begin): Unit
    method("next", CD_Object, fiber)(code => Loop(code).write()): Unit
    method("isSpent", CD_boolean)(isSpent): Unit
    if last.nonEmpty then method("hasEnd", CD_boolean)(_.iconst_1().ireturn(): Unit): Unit

  private def begin(code: CodeBuilder): Unit =
    def read(index: Int, name: String, desc: ClassDesc): Unit =
      code
        .aload(1)
        .loadConstant(index)
        .aaload()
        .invokevirtual(step, name, MethodTypeDesc.of(desc)): Unit
    for index <- steps.indices do
      for desc <- functionType(index) do
        code.aload(0): Unit
        read(index, "function", CD_Object)
        code.checkcast(desc).putfield(self, f(index), desc): Unit
      if hasFlag(index) then
        code.aload(0).iconst_1().putfield(self, s"flag$index", CD_boolean): Unit
      for (desc, kind) <- stateKind(index) do
        code.aload(0): Unit
        steps(index) match
          case _: (Step.Take | Step.Drop) => read(index, "count", CD_long)
          case _: Step.ZipWithIndex => code.lconst_0(): Unit
          case _: Step.Changes => loadEnd(code)
          case _: Step.MapConcat => code.aconst_null(): Unit
          case _ =>
            read(index, "zero", CD_Object)
            convert(code, Kind.Ref, kind)
        code.putfield(self, state(index), desc): Unit
    code.return_(): Unit

  /** Writes `isSpent` as the stages define it, from the first to the last. */
  private def isSpent(code: CodeBuilder): Unit =
    def source() = code.aload(0).invokevirtual(fusedPull, "source", MethodTypeDesc.of(pull))
    val isSpent = MethodTypeDesc.of(CD_boolean)
    source().invokevirtual(pull, "isSpent", isSpent): Unit
    for index <- steps.indices do
      steps(index) match
        case _: Step.Take => // or it wants no more, and there is nothing to close
          val no, done = code.newLabel()
          field(code, state(index), CD_long).lconst_0().lcmp().ifgt(no): Unit
          source().invokevirtual(pull, "holdsNothing", isSpent).goto_(done): Unit
          code.labelBinding(no).iconst_0(): Unit
          code.labelBinding(done).ior(): Unit
        case _: Step.Scan => // and has begun
          field(code, s"flag$index", CD_boolean).iconst_1().ixor().iand(): Unit
        case _: Step.MapConcat => // and has no items left
          val no, done = code.newLabel()
          field(code, state(index), iterator).ifnonnull(no).iconst_1().goto_(done): Unit
          code.labelBinding(no).iconst_0(): Unit
          code.labelBinding(done).iand(): Unit
        case _ => ()
    code.ireturn(): Unit

  private def field(code: CodeBuilder, name: String, desc: ClassDesc): CodeBuilder =
    code.aload(0).getfield(self, name, desc)

  private def loadEnd(code: CodeBuilder): Unit = code.getstatic(end, "MODULE$", end): Unit

  /** Boxes or unboxes the value on top of the stack. */
  private def convert(code: CodeBuilder, from: Kind, to: Kind): Unit =
    if from != to then
      if from != Kind.Ref then
        val name = if from == Kind.Int then "Integer" else from.name
        val boxed = ClassDesc.of("java.lang." + name)
        code.invokestatic(boxes, "boxTo" + name, MethodTypeDesc.of(boxed, from.desc)): Unit
      if to != Kind.Ref then
        code.invokestatic(boxes, "unboxTo" + to.name, MethodTypeDesc.of(to.desc, CD_Object)): Unit

  /** The body of `next`. The element is in a local variable, whose kind is `kind`. */
  private final class Loop(code: CodeBuilder):
    private val top, over = code.newLabel()
    private var kind = Kind.Ref
    private var slot = -1
    private var accumulated = -1 // the variable with the result of an end so far
    private val checkpoint = MethodTypeDesc.of(CD_void)

    /** With an end, `next` is called once: states are local variables then, which cost nothing. */
    private val isWhole = last.nonEmpty
    private val functions = local(functionType)
    private val states = if isWhole then local(stateKind(_).map(_._1)) else Array.empty[Int]
    private val flags =
      if isWhole then local(index => Option.when(hasFlag(index))(CD_boolean)) else Array.empty[Int]
    private val items = if isWhole && hasItems then code.allocateLocal(TypeKind.REFERENCE) else -1

    private def local(desc: Int => Option[ClassDesc]): Array[Int] =
      Array.tabulate(steps.length)(desc(_).fold(-1)(d => code.allocateLocal(TypeKind.from(d))))

    /** The label at which the code continues with an element of step `index`, and the variable of
      * the element.
      */
    private final case class Entry(label: Label, kind: Kind, slot: Int)
    private val entries = steps.indices.map { index =>
      val resumed = steps(index) match
        case _: Step.Scan => Some(call(index).result)
        case _: Step.MapConcat => Some(Kind.Ref)
        case _ => None
      resumed.map(kind => Entry(code.newLabel(), kind, code.allocateLocal(kind.kind)))
    }

    def write(): Unit =
      for index <- steps.indices do
        for desc <- functionType(index) do
          field(code, f(index), desc).astore(functions(index)): Unit
        if isWhole then
          for (desc, kind) <- stateKind(index) do
            field(code, state(index), desc).storeLocal(kind.kind, states(index)): Unit
          if hasFlag(index) then code.iconst_1().istore(flags(index)): Unit
      if items >= 0 then code.aconst_null().astore(items): Unit
      beginEnd()
      code.labelBinding(top): Unit
      for index <- steps.indices.reverse do resume(index)
      pullSource()
      for index <- steps.indices do pass(index)
      if last.isEmpty then
        load(Kind.Ref)
        code.areturn(): Unit
      code.labelBinding(over): Unit
      result()
      code.areturn(): Unit

    private def function(index: Int): Unit = code.aload(functions(index)): Unit

    private def loadState(index: Int): Unit =
      val (desc, kind) = stateKind(index).get
      if isWhole then code.loadLocal(kind.kind, states(index)): Unit
      else field(code, state(index), desc): Unit

    private def putState(index: Int)(value: => Unit): Unit =
      val (desc, kind) = stateKind(index).get
      if !isWhole then code.aload(0): Unit
      value
      if isWhole then code.storeLocal(kind.kind, states(index)): Unit
      else code.putfield(self, state(index), desc): Unit

    private def loadFlag(index: Int): Unit =
      if isWhole then code.iload(flags(index)): Unit
      else field(code, s"flag$index", CD_boolean): Unit

    private def clearFlag(index: Int): Unit =
      if isWhole then code.iconst_0().istore(flags(index)): Unit
      else code.aload(0).iconst_0().putfield(self, s"flag$index", CD_boolean): Unit

    private def loadItems(): Unit =
      if isWhole then code.aload(items): Unit else field(code, "items", iterator): Unit

    private def load(as: Kind): Unit =
      code.loadLocal(kind.kind, slot): Unit
      convert(code, kind, as)

    /** Makes the value on top of the stack the element. */
    private def store(now: Kind): Unit =
      kind = now
      slot = code.allocateLocal(now.kind)
      code.storeLocal(now.kind, slot): Unit

    private def storeFor(entry: Entry): Unit =
      code.storeLocal(entry.kind.kind, entry.slot).labelBinding(entry.label): Unit
      kind = entry.kind
      slot = entry.slot

    private def putItems(value: => Unit): Unit =
      if !isWhole then code.aload(0): Unit
      value
      if isWhole then code.astore(items): Unit
      else code.putfield(self, "items", iterator): Unit

    private def pullSource(): Unit = source match
      case SourceKind.Iterated => pullIterated()
      case SourceKind.Composed => pullComposed()
      case SourceKind.Pulled =>
        nextOfSource()
        store(Kind.Ref)
        load(Kind.Ref)
        loadEnd(code)
        code.if_acmpeq(over): Unit

    private def loadSource(): Unit =
      code.aload(0).invokevirtual(fusedPull, "source", MethodTypeDesc.of(pull)): Unit

    private def nextOfSource(): Unit =
      loadSource()
      code.aload(1).invokevirtual(pull, "next", MethodTypeDesc.of(CD_Object, fiber)): Unit

    /** Asks the iterator on the stack whether it has more. */
    private def hasNext(): Unit =
      code.invokeinterface(iterator, "hasNext", MethodTypeDesc.of(CD_boolean)): Unit

    /** Takes the next value of the iterator on the stack. */
    private def nextOfIterator(): Unit =
      code.invokeinterface(iterator, "next", MethodTypeDesc.of(CD_Object)): Unit

    /** Makes the iterator that `method` of the source, an `owner`, returns the iterator from now
      * on.
      */
    private def putItemsOfSource(owner: ClassDesc, method: String): Unit = putItems {
      loadSource()
      code.checkcast(owner).invokevirtual(owner, method, MethodTypeDesc.of(iterator)): Unit
    }

    private def pullIterated(): Unit =
      val begun = code.newLabel()
      checkCancel()
      loadItems()
      code.ifnonnull(begun): Unit
      putItemsOfSource(iteratorSource, "started")
      code.labelBinding(begun): Unit
      loadItems()
      hasNext()
      code.ifeq(over): Unit
      loadItems()
      nextOfIterator()
      store(Kind.Ref)

    /** Pulls a composite. It continues where the iterator that it has lent ends: it asks that once
      * more.
      */
    private def pullComposed(): Unit =
      val ended, none, done = code.newLabel()
      val element = code.allocateLocal(TypeKind.REFERENCE)
      loadItems()
      code.ifnull(none): Unit
      checkCancel()
      loadItems()
      hasNext()
      code.ifeq(ended): Unit
      loadItems()
      nextOfIterator()
      code.astore(element).goto_(done).labelBinding(ended): Unit
      putItems(code.aconst_null(): Unit)
      code.labelBinding(none): Unit
      nextOfSource()
      code.astore(element).aload(element): Unit
      loadEnd(code)
      code.if_acmpeq(over): Unit
      putItemsOfSource(compositePull, "lent")
      code.labelBinding(done): Unit
      kind = Kind.Ref
      slot = element

    private def checkCancel(): Unit =
      code.aload(1).invokevirtual(fiber, "checkpoint", checkpoint): Unit

    /** Writes the code of step `index` before upstream is asked. */
    private def resume(index: Int): Unit = steps(index) match
      case _: Step.Take =>
        loadState(index)
        code.lconst_0().lcmp().ifle(over): Unit
      case _: (Step.TakeWhile | Step.TakeThrough) =>
        loadFlag(index)
        code.ifeq(over): Unit
      case _: Step.Scan =>
        val entry = entries(index).get
        val begun = code.newLabel()
        loadFlag(index)
        code.ifeq(begun): Unit
        clearFlag(index)
        loadState(index)
        code.storeLocal(entry.kind.kind, entry.slot).goto_w(entry.label): Unit
        code.labelBinding(begun): Unit
      case _: Step.MapConcat =>
        val entry = entries(index).get
        val none, ended = code.newLabel()
        loadState(index)
        code.ifnull(none): Unit
        checkCancel()
        loadState(index)
        hasNext()
        code.ifeq(ended): Unit
        loadState(index)
        nextOfIterator()
        code.astore(entry.slot).goto_w(entry.label).labelBinding(ended): Unit
        putState(index)(code.aconst_null(): Unit)
        code.labelBinding(none): Unit
      case _ => ()

    private def applyTo(index: Int): Kind =
      val how = call(index)
      function(index)
      load(how.parameters.head)
      code.invokeinterface(how.owner, how.name, how.signature): Unit
      how.result

    /** Calls a function of the state and the element. */
    private def applyToBoth(index: Int)(loadState: => Unit): Unit =
      val how = call(index)
      function(index)
      loadState
      load(how.parameters(1))
      code.invokeinterface(how.owner, how.name, how.signature): Unit

    /** Awaits the task on the stack. A thunk is run here, as `await` would run it. If nothing else
      * has been awaited in this class, the JIT drops the rest, and with it the object of the task.
      * So the task is passed to no method on the way.
      */
    private def awaitTask(): Unit =
      val made = code.allocateLocal(TypeKind.REFERENCE)
      val value = code.allocateLocal(TypeKind.REFERENCE)
      val other, done = code.newLabel()
      code
        .checkcast(task)
        .astore(made)
        .aload(made)
        .instanceOf(delay)
        .ifeq(other)
        .aload(1)
        .invokevirtual(fiber, "isApart", MethodTypeDesc.of(CD_boolean))
        .ifne(other)
        .aload(1)
        .invokevirtual(fiber, "checkpoint", MethodTypeDesc.of(CD_void))
        .trying(
          _.aload(made)
            .checkcast(delay)
            .invokevirtual(delay, "run", MethodTypeDesc.of(CD_Object))
            .astore(value): Unit,
          _.catchingAll { handler =>
            val error = handler.allocateLocal(TypeKind.REFERENCE)
            handler
              .astore(error)
              .aload(1)
              .aload(error)
              .invokevirtual(fiber, "failedInPlace", MethodTypeDesc.of(throwable, throwable))
              .athrow(): Unit
          }: Unit
        )
        .aload(1)
        .invokevirtual(fiber, "shouldCancel", MethodTypeDesc.of(CD_boolean))
        .ifeq(done)
        .aload(1)
        .invokevirtual(fiber, "interruptAgain", MethodTypeDesc.of(CD_void))
        .goto_(done)
        .labelBinding(other)
        .aload(1)
        .aload(made)
        .invokevirtual(fiber, "await", MethodTypeDesc.of(CD_Object, task))
        .astore(value)
        .labelBinding(done)
        .aload(value): Unit

    private def test(index: Int): Unit = convert(code, applyTo(index), Kind.Boolean)

    /** Writes the code of step `index` for an element. */
    private def pass(index: Int): Unit = steps(index) match
      case _: Step.Map => store(applyTo(index))
      case _: Step.Filter =>
        test(index)
        code.ifeq(top): Unit
      case _: Step.Collect =>
        function(index)
        load(Kind.Ref)
        code.getstatic(undefined, "MODULE$", undefined): Unit
        code.invokeinterface(
          partialFunction,
          "applyOrElse",
          MethodTypeDesc.of(CD_Object, CD_Object, function1)
        ): Unit
        store(Kind.Ref)
        load(Kind.Ref)
        code.getstatic(undefined, "MODULE$", undefined).if_acmpeq(top): Unit
      case _: Step.EvalMap =>
        convert(code, applyTo(index), Kind.Ref)
        awaitTask()
        store(Kind.Ref)
      case _: Step.Take => count(index, -1)
      case _: Step.Drop =>
        val enough = code.newLabel()
        loadState(index)
        code.lconst_0().lcmp().ifle(enough): Unit
        count(index, -1)
        code.goto_w(top).labelBinding(enough): Unit
      case _: Step.TakeWhile =>
        val going = code.newLabel()
        test(index)
        code.ifne(going): Unit
        clearFlag(index)
        code.goto_w(over): Unit
        code.labelBinding(going): Unit
      case _: Step.TakeThrough =>
        val going = code.newLabel()
        test(index)
        code.ifne(going): Unit
        clearFlag(index)
        code.labelBinding(going): Unit
      case _: Step.DropWhile =>
        val going, ended = code.newLabel()
        loadFlag(index)
        code.ifeq(going): Unit
        test(index)
        code.ifeq(ended).goto_w(top): Unit
        code.labelBinding(ended): Unit
        clearFlag(index)
        code.labelBinding(going): Unit
      case _: Step.Scan =>
        putState(index)(applyToBoth(index)(loadState(index)))
        loadState(index)
        storeFor(entries(index).get)
      case _: Step.MapAccumulate =>
        applyToBoth(index)(loadState(index))
        code.checkcast(tuple2): Unit
        store(Kind.Ref)
        val both = slot
        putState(index)(half(both, "_1"))
        half(both, "_2")
        store(Kind.Ref)
      case _: Step.ZipWithIndex =>
        load(Kind.Ref)
        store(Kind.Ref)
        code.new_(tuple2).dup(): Unit
        load(Kind.Ref)
        loadState(index)
        convert(code, Kind.Long, Kind.Ref)
        code.invokespecial(tuple2, "<init>", MethodTypeDesc.of(CD_void, CD_Object, CD_Object)): Unit
        store(Kind.Ref)
        count(index, 1)
      case _: Step.MapConcat =>
        putState(index) {
          convert(code, applyTo(index), Kind.Ref)
          code.checkcast(iterableOnce): Unit
          code.invokeinterface(iterableOnce, "iterator", MethodTypeDesc.of(iterator)): Unit
        }
        code.goto_w(top): Unit
        val entry = entries(index).get
        code.labelBinding(entry.label): Unit
        kind = Kind.Ref
        slot = entry.slot
      case _: Step.Changes =>
        load(Kind.Ref)
        store(Kind.Ref)
        val changed = code.newLabel()
        loadState(index)
        loadEnd(code)
        code.if_acmpeq(changed): Unit
        load(Kind.Ref)
        loadState(index)
        code.invokestatic(
          boxes,
          "equals",
          MethodTypeDesc.of(CD_boolean, CD_Object, CD_Object)
        ): Unit
        code.ifne(top).labelBinding(changed): Unit
        putState(index)(load(Kind.Ref))
      case end: Step.End => addTo(end, index)

    private def count(index: Int, by: Long): Unit = putState(index) {
      loadState(index)
      code.loadConstant(by).ladd(): Unit
    }

    private def half(both: Int, name: String): Unit =
      code.aload(both).invokevirtual(tuple2, name, MethodTypeDesc.of(CD_Object)): Unit

    // ---- ends ----

    private def foldKind: Kind = call(steps.length - 1).result

    private def beginEnd(): Unit = last match
      case Some(_: Step.Fold) =>
        code.aload(0).invokevirtual(fusedPull, "zero", MethodTypeDesc.of(CD_Object)): Unit
        convert(code, Kind.Ref, foldKind)
        accumulated = code.allocateLocal(foldKind.kind)
        code.storeLocal(foldKind.kind, accumulated): Unit
      case Some(_: Step.Count) =>
        accumulated = code.allocateLocal(TypeKind.LONG)
        code.lconst_0().lstore(accumulated): Unit
      case Some(_: Step.ToList) =>
        accumulated = code.allocateLocal(TypeKind.REFERENCE)
        code
          .new_(listBuffer)
          .dup()
          .invokespecial(listBuffer, "<init>", MethodTypeDesc.of(CD_void)): Unit
        code.astore(accumulated): Unit
      case _ => ()

    private def addTo(which: Step.End, index: Int): Unit =
      which match
        case _: Step.Fold =>
          applyToBoth(index)(code.loadLocal(foldKind.kind, accumulated): Unit)
          code.storeLocal(foldKind.kind, accumulated): Unit
        case _: Step.Count => code.lload(accumulated).lconst_1().ladd().lstore(accumulated): Unit
        case _: Step.ToList =>
          code.aload(accumulated): Unit
          load(Kind.Ref)
          code
            .invokevirtual(listBuffer, "addOne", MethodTypeDesc.of(listBuffer, CD_Object))
            .pop(): Unit
        case _: Step.Drain => ()
      code.goto_w(top): Unit

    private def result(): Unit = last match
      case Some(_: Step.Fold) =>
        code.loadLocal(foldKind.kind, accumulated): Unit
        convert(code, foldKind, Kind.Ref)
      case Some(_: Step.Count) =>
        code.lload(accumulated): Unit
        convert(code, Kind.Long, Kind.Ref)
      case Some(_: Step.ToList) =>
        code.aload(accumulated).invokevirtual(listBuffer, "toList", MethodTypeDesc.of(list)): Unit
      case Some(_: Step.Drain) => code.getstatic(boxedUnit, "UNIT", boxedUnit): Unit
      case None => loadEnd(code)
