package weir.trace

import java.lang.constant.MethodTypeDesc
import java.lang.invoke.SerializedLambda
import java.lang.reflect.{Field, Method, Modifier}
import scala.collection.mutable.ArrayBuffer
import weir.fiber.*

/** Finds the lines of the user's code in an instruction, a frame or a function object.
  *
  *   - A lambda of the user's is asked for its `SerializedLambda`, which names the method with its
  *     body. Lambdas of Scala are serializable. Lambdas of Java need not be; of those only the
  *     class is known.
  *   - This library's own objects and lambdas are searched for the functions, tasks and streams
  *     that they keep. Those are recognized by the declared type of the field, so that a value of
  *     the user's is never taken for code of the user's. Other folders mark further objects with
  *     `HoldsUserCode`.
  */
private[weir] object Functions:
  /** The largest number of objects that one call looks into: a stream may consist of any number. */
  private inline val most = 64

  /** Returns the first lines of the pieces of code in `root`, in the order in which they were
    * written.
    */
  def in(root: AnyRef | Null): Seq[StackTraceElement] =
    if (root eq null) || root.isInstanceOf[Class[?]] then Nil
    else if OwnCode.contains(root.getClass) then
      val walk = Walk()
      walk.look(root)
      walk.found.toSeq
    else List(location(root))

  private final class Walk:
    val found = ArrayBuffer[StackTraceElement]()
    private val seen = java.util.IdentityHashMap[AnyRef, AnyRef]()

    def look(at: AnyRef | Null): Unit =
      if (at ne null) && seen.size < most && (seen.put(at, at) eq null) then
        at match
          case _: Pure[?] | _: Fail => ()
          case task: Mapped[?, ?] => chain(task.source, task.f)
          case task: FlatMap[?, ?] => chain(task.source, task.f)
          case task: Handle[?] => chain(task.source, task.f)
          case task: Attempt[?] => look(task.source)
          case task: OnCancel[?] => chain(task.source, task.finalizer)
          case _: Start[?] =>
            () // its task runs on another fiber; this one continues with what follows
          case other if OwnCode.contains(other.getClass) =>
            if other.getClass.isHidden then captured(other).foreach(look)
            else Functions.fields(other.getClass).foreach(field => look(field.get(other)))
          case other => found += location(other)

    /** Looks into the source of a task, with which it begins. If there is no line in it, looks into
      * what follows.
      */
    private def chain(source: AnyRef, next: AnyRef): Unit =
      val before = found.size
      look(source)
      if found.size == before then look(next)

  /** Returns the lines with which the fiber continues once it is back at `node` on its continuation
    * stack.
    */
  def ofFrame(node: AnyRef | Null): Seq[StackTraceElement] = node match
    case null => Nil
    case frame: Mapped[?, ?] => in(frame.f)
    case frame: FlatMap[?, ?] => in(frame.f)
    case frame: Handle[?] => in(frame.f)
    case _: OnCancel[?] | _: Attempt[?] => Nil
    case other => in(other)

  // ---- the user's function objects ----

  private final class Lambda(of: Class[?]):
    /** Null if the lambda is not serializable, or if its package is closed to this library. */
    val writeReplace: Method | Null =
      try
        val method = of.getDeclaredMethod("writeReplace")
        method.setAccessible(true)
        method
      catch case _: ReflectiveOperationException | _: RuntimeException => null
    @volatile var location: StackTraceElement | Null = null

  private val lambdas = new ClassValue[Lambda]:
    override def computeValue(of: Class[?]): Lambda = Lambda(of)

  private def location(function: AnyRef): StackTraceElement =
    locationOf(function.getClass, serialized(function))

  /** Returns the line of the functions of a class; null if they are this library's. */
  def ofClass(of: Class[?]): StackTraceElement | Null =
    if OwnCode.contains(of) then null
    else
      val lambda = lambdas.get(of)
      val known = lambda.location
      if known ne null then known
      else
        // Not kept if the form is missing: one made by the function itself may tell more.
        val form = if isLambda(of) && (lambda.writeReplace ne null) then emptyForm(of) else null
        if form eq null then locate(of, null) else locationOf(of, form)

  /** Returns true if a compiler or the JVM has made the class, so that its `writeReplace` runs no
    * code of the user's.
    */
  private def isLambda(of: Class[?]): Boolean = of.isHidden || of.isSynthetic

  private def emptyForm(of: Class[?]): SerializedLambda | Null =
    try serialized(withoutValues(of))
    catch case _: ReflectiveOperationException | _: LinkageError | _: RuntimeException => null

  /** Returns an instance that has captured nothing, and that is only good to be asked for its
    * `SerializedLambda`: made as deserialization makes instances.
    */
  private def withoutValues(of: Class[?]): AnyRef =
    sun.reflect.ReflectionFactory.getReflectionFactory
      .newConstructorForSerialization(of, classOf[Object].getConstructor())
      .newInstance()
      .asInstanceOf[AnyRef]

  private def locationOf(of: Class[?], form: => SerializedLambda | Null): StackTraceElement =
    val lambda = lambdas.get(of)
    val known = lambda.location
    if known ne null then known
    else
      val made = locate(of, form)
      lambda.location = made
      made

  private def serialized(function: AnyRef): SerializedLambda | Null =
    val method = lambdas.get(function.getClass).writeReplace
    if method eq null then null
    else
      try
        method.invoke(function) match
          case form: SerializedLambda => form
          case _ => null
      catch case _: ReflectiveOperationException => null

  private def locate(of: Class[?], form: SerializedLambda | Null): StackTraceElement =
    if form ne null then
      val name = form.getImplMethodName
      val body = form.getImplClass.replace('/', '.')
      try
        ClassLines
          .of(Class.forName(body, false, of.getClassLoader))
          .at(name, name.replace("$adapted", ""))
      catch
        case _: ClassNotFoundException | _: LinkageError => StackTraceElement(body, name, null, -1)
    else if of.isHidden then ClassLines.of(of.getNestHost).at("lambda")
    else ClassLines.of(of).at("apply", "applyOrElse", "run", "call", "get", "accept")

  // ---- this library's own ----

  private def captured(lambda: AnyRef): Seq[AnyRef | Null] =
    val form = serialized(lambda)
    if form eq null then Nil
    else
      val types = MethodTypeDesc.ofDescriptor(form.getImplMethodSignature)
      // An instance method has `this` as its first captured value, which is not in its signature.
      val instance = form.getCapturedArgCount + functionArity(lambda) - types.parameterCount
      (0 until form.getCapturedArgCount).flatMap { i =>
        val value = form.getCapturedArg(i)
        val declared = if i < instance then null else types.parameterType(i - instance)
        if (declared ne null) && declared.descriptorString == "Ljava/lang/Object;" then None
        else if isCode(value) then Some(value)
        else None
      }

  private def functionArity(lambda: AnyRef): Int = lambda match
    case _: Function0[?] => 0
    case _: Function1[?, ?] => 1
    case _: Function2[?, ?, ?] => 2
    case _ => 0

  private def isCode(value: AnyRef | Null): Boolean = value match
    case null => false
    case _: scala.collection.Iterable[?] => false // many a collection is a function too
    case _: (Function0[?] | Function1[?, ?] | Function2[?, ?, ?]) => true
    case _: (Node | HoldsUserCode) => true
    case _ => false

  private val functions =
    Set[Class[?]](classOf[Function0[?]], classOf[Function1[?, ?]], classOf[Function2[?, ?, ?]])

  private val code = List[Class[?]](classOf[Node], classOf[HoldsUserCode])

  private val fieldsOf = new ClassValue[Vector[Field]]:
    override def computeValue(of: Class[?]): Vector[Field] =
      Iterator
        .iterate[Class[?] | Null](of)(_.nn.getSuperclass)
        .takeWhile(_ ne null)
        .flatMap(_.nn.getDeclaredFields)
        .filter(field =>
          val declared = field.getType
          !Modifier.isStatic(field.getModifiers) && !Modifier.isTransient(field.getModifiers) &&
          (functions.contains(declared) || code.exists(_.isAssignableFrom(declared)))
        )
        .tapEach(_.setAccessible(true))
        .toVector

  private def fields(of: Class[?]): Vector[Field] = fieldsOf.get(of)
