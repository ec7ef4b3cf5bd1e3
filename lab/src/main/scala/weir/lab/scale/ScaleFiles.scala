package weir.lab.scale

import java.nio.file.{Files, Path}

import weir.lab.LabOptions
import weir.program.{BadInput, ResultFile}

/** The files of a report: written again and again during a run, and read back. */
private[lab] object ScaleFiles:
  /** The name of the JSON in the folder of a run of the bundle. */
  val json = "scale.json"

  /** The notes of the bundle's script about the machine, in the same folder. */
  val machine = "machine.txt"

  /** Writes the JSON, if it is asked for.
    *
    * **Fails** with [[ResultFile.NotWritten]].
    */
  def writeJson(report: ScaleReport, lab: LabOptions.Checked): Unit =
    lab.json.foreach: file =>
      ResultFile("--json", file).replace(ujson.write(report.toJson, indent = 2) + "\n")

  /** Writes all files that are asked for. **Fails** with [[ResultFile.NotWritten]]. */
  def write(report: ScaleReport, lab: LabOptions.Checked): Unit =
    def drawn(id: String) = lab.chartOf.findFirstIn(id).nonEmpty
    ResultFile.all(
      Seq(() => writeJson(report, lab)) ++
        lab.report.map(file =>
          () => ResultFile("--report", file).replace(ScalePage.html(report))
        ) ++
        lab.chart.map(file => () => ResultFile("--chart", file).write(ScalePage.svg(report, drawn)))
    )

  /** Returns the report in `folder`, which a run of the bundle has written.
    *
    * **Fails** with [[BadInput]].
    */
  def read(folder: Path): ScaleReport =
    val place = s"--read $folder"
    if !Files.isDirectory(folder) then
      throw BadInput(place, "there is no such folder.", "Name the folder that run.sh has written.")
    val file = folder.resolve(json)
    if !Files.exists(file) then
      throw BadInput(
        place,
        s"it has no $json.",
        "Name the folder that run.sh has written; it has no figures if it was cut off at once."
      )
    val text = BadInput.whileReading(file.toString)(Files.readString(file))
    ScaleReport
      .parse(text)
      .getOrElse(throw BadInput(file.toString, "it is no report of weir scale.", "Copy it again."))

  /** Returns the lines of the script's notes on the machine; none if they are not there. */
  def machineOf(folder: Path): Vector[String] =
    val file = folder.resolve(machine)
    if !Files.isReadable(file) then Vector.empty
    else BadInput.whileReading(file.toString)(Files.readString(file)).linesIterator.toVector
