package weir.bench.child.clients

import java.net.URI

import weir.lab.{ChildOutput, Experiment}
import weir.program.Result

/** Measures the time that one way takes to ask a slow service about many clients.
  *
  * It is run with a short delay first, again and again, as it would be in a program that has been
  * up for a while. Then it is measured once: it mostly waits, so a second time would say the same.
  */
object Clients extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val (wayName, ids) = (options.text("way"), options.int("ids"))
    val way = Ways.all.getOrElse(
      (wayName, system),
      throw IllegalArgumentException(s"$system has no way '$wayName'")
    )
    val client = PurchaseClient.connect(URI.create(options.text("url")))
    try
      val quick = client.withDelay(options.long("warmUpDelayMillis"))
      val warmUpNanos = options.long("warmUpMillis") * 1_000_000
      val start = System.nanoTime()
      while System.nanoTime() - start < warmUpNanos do way(quick, ids): Unit
      out.event(ujson.Obj("measuring" -> wayName))
      val measured = System.nanoTime()
      val sum = way(client, ids)
      val millis = (System.nanoTime() - measured) / 1e6
      val name = s"$ids ids: $wayName"
      if sum == options.long("sum") then out.result(Result.millis(name, system, millis))
      else out.failed(name, system, s"the sum was $sum, not ${options.text("sum")}")
    finally client.close()
