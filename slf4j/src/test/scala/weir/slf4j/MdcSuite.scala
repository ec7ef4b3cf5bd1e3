package weir.slf4j

import ch.qos.logback.classic.Logger
import ch.qos.logback.classic.spi.ILoggingEvent
import ch.qos.logback.core.AppenderBase
import java.util.concurrent.ConcurrentLinkedQueue
import org.slf4j.{LoggerFactory, MDC}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task, WeirSuite}

/** PAINS row 24: SLF4J's MDC, as in Logback, on the default runtime. */
class MdcSuite extends WeirSuite:

  /** The request that each line was logged for, by the line. */
  private def logging(task: Logger => Task[Any]): Map[String, Set[String | Null]] =
    val logger = LoggerFactory.getLogger("weir.slf4j.MdcSuite").asInstanceOf[Logger]
    val lines = ConcurrentLinkedQueue[(String, String | Null)]()
    val appender = new AppenderBase[ILoggingEvent]:
      def append(event: ILoggingEvent): Unit =
        lines.add(event.getMessage -> event.getMDCPropertyMap.get("request")): Unit
    appender.start()
    logger.addAppender(appender)
    try task(logger).start.flatMap(_.joinOrFail).runSync(): Unit
    finally logger.detachAppender(appender): Unit
    lines.asScala.toList.groupMap(_._1)(_._2).view.mapValues(_.toSet).toMap

  test("MDC follows fork, parEvalMap, timeout and runSync, with no flag"):
    val lines = logging { logger =>
      def log(line: String) =
        Task.cede.andThen(Task.sleep(1.milli)).andThen(Task(logger.info(line)))
      for
        _ <- Task(MDC.put("request", "r7"))
        _ <- log("begin")
        _ <- log("fork").start.flatMap(_.joinOrFail)
        _ <- log("timeout").timeout(1.hour)
        _ <- Task(log("runSync").runSync())
        _ <- Stream.fromIterable(1 to 50).parEvalMap(8)(_ => log("parEvalMap")).drain
        _ <- Stream.eval(log("prefetch")).prefetchN(2).drain
        _ <- Task.parTraverse(1 to 50)(_ => log("parTraverse"))
        _ <- Task.race(log("race"), Task.never)
        _ <- Task.direct(log("direct").await)
        _ <- log("end")
      yield ()
    }
    assertEquals(lines.keySet.size, 10)
    for (line, requests) <- lines do assertEquals(requests, Set("r7"), line)

  test("requests that run side by side on the same threads do not mix"):
    val requests = (1 to 50).map(i => s"r$i").toSet
    val lines = logging { logger =>
      Task.parTraverse(requests)(request =>
        Task(MDC.put("request", request))
          .andThen(Task.foreach(1 to 5)(_ => Task.cede.andThen(Task(logger.info(request)))))
      )
    }
    assertEquals(lines, requests.map(request => request -> Set[String | Null](request)).toMap)

  test("the caller's thread keeps its own, and gives it to what it runs"):
    MDC.put("request", "caller's")
    val seen = Task(MDC.get("request")).flatMap(seen => Task(MDC.put("request", "task's")).as(seen))
    assertEquals(Task.cede.andThen(seen).runSync(), "caller's")
    assertEquals(MDC.get("request"), "caller's")
    MDC.clear()
