package weir.cli

import weir.cli.command.Scale

/** The program of a bundle: `weir` with the command `scale` alone, which needs few of its jars. */
object BundleProgram:
  def main(args: Array[String]): Unit = Main.exit(args.toSeq, Seq(new Scale))
