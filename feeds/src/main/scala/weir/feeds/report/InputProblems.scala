package weir.feeds.report

import java.io.PrintWriter

import weir.feeds.input.FeedList
import weir.program.{BadInput, Text}

/** Reports which entries of the user's lists of feeds cannot be used. */
object InputProblems:
  /** The number of problems that fit on a screen together with the lines after them. */
  private val mostLines = 20

  /** Prints the problems of `listed`, one a line.
    *
    * **Fails** with the last of them, which the caller prints, if the rest of `listed` is not to be
    * used: any problem is enough if `isStrict`; else there must be a good feed beside the problems.
    */
  def check(listed: FeedList, isStrict: Boolean, err: PrintWriter): Unit =
    val FeedList(feeds, problems) = listed
    if problems.nonEmpty && (isStrict || feeds.isEmpty) then
      print(problems.init, err)
      throw problems.last
    print(problems, err)

  private def print(problems: Vector[BadInput], err: PrintWriter): Unit =
    problems.take(mostLines).foreach(problem => err.println(problem.getMessage))
    val rest = problems.size - mostLines
    if rest > 0 then err.println(s"… and ${Text.grouped(rest)} more")
