package weir.bench

import java.io.File
import java.lang.reflect.{Field, Modifier}
import java.util.jar.JarFile
import org.openjdk.jmh.annotations.{Benchmark, Param}
import scala.concurrent.duration.{Duration, DurationInt}
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** Every rival of every scenario gives the answer that the scenario declares. */
class RivalsSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 1.minute

  // Found among the compiled classes, so that none can be forgotten.
  private val scenarios: List[Class[?]] =
    compiled
      .filter(_.matches("weir/bench/[^/]*[.]class"))
      .sorted
      .map(name => Class.forName(name.stripSuffix(".class").replace('/', '.')))
      .filter(c => classOf[Scenario].isAssignableFrom(c) && !Modifier.isAbstract(c.getModifiers))

  test("the scenarios are found"):
    assert(scenarios.contains(classOf[SequenceReady]), scenarios)

  for
    scenario <- scenarios
    method <- scenario.getMethods.sortBy(_.getName)
    if method.isAnnotationPresent(classOf[Benchmark])
    size <- List(1, 100)
    params <- choices(scenario)
  do
    val about = (s"size $size" :: params.map(_._2)).mkString(", ")
    test(s"${scenario.getSimpleName}.${method.getName} gives the expected result: $about"):
      val instance = scenario.getConstructor().newInstance().asInstanceOf[Scenario]
      instance.size = size
      params.foreach((field, value) =>
        field.set(instance, if field.getType == classOf[Int] then Int.box(value.toInt) else value)
      )
      instance.prepare()
      val returned = method.invoke(instance) match
        case values: Iterable[?] => Rivals.total(values.asInstanceOf[Iterable[Int]])
        case number: Number => number.longValue
      assertEquals(returned, instance.expected)

  /** The files of the jar or of the folder. */
  private def compiled: List[String] =
    val place = File(classOf[Scenario].getProtectionDomain.getCodeSource.getLocation.toURI)
    if place.isDirectory then
      Option(File(place, "weir/bench").list()).toList.flatten.map("weir/bench/" + _)
    else Using.resource(JarFile(place))(_.stream.map(_.getName).toList.asScala.toList)

  /** Every way to choose the parameters of a scenario that are not its size. */
  private def choices(scenario: Class[?]): List[List[(Field, String)]] =
    Iterator
      .iterate[Class[?]](scenario)(_.getSuperclass)
      .takeWhile(_ != null)
      .flatMap(_.getDeclaredFields)
      .toList
      .filter(field => field.isAnnotationPresent(classOf[Param]) && field.getName != "size")
      .foldRight(List(List.empty[(Field, String)])) { (field, rest) =>
        field.setAccessible(true)
        for
          value <- field.getAnnotation(classOf[Param]).value.toList
          others <- rest
        yield (field, value) :: others
      }
