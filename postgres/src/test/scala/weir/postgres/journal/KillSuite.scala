package weir.postgres.journal

import java.nio.file.{Files, Path}
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random
import weir.{Tier, WeirSuite}

/** A program that is killed at random moments, and started again until it ends:
  * `-Dweir.sql.kills=50` for many.
  */
class KillSuite extends ResumeSuite:
  private val kills = Tier.size("weir.sql.kills", 1, 3)
  override def limit: FiniteDuration = (60 + 10 * kills).seconds

  private val tables = List("a", "b", "c", "d")

  /** Statements by themselves, transactions, COPYs small and large, settings, what cannot be in a
    * transaction; files that are included and copied, and rows that decide what follows.
    */
  private def script(random: Random, folder: Path): String =
    Files.writeString(folder.resolve("rows.txt"), s"from a file ${"w" * 300}\n" * 15000)
    Files.writeString(
      folder.resolve("part.sql"),
      s"INSERT INTO :t (v) VALUES ('part');\nBEGIN;\n\\copy d (v) from $folder/rows.txt\n" +
        "COPY b (v) FROM stdin;\nx\n\\.\nCOMMIT;\n\\ir deep.sql\n"
    )
    Files.writeString(
      folder.resolve("deep.sql"),
      "SELECT count(*) AS n, count(*) % 2 = 0 AS even FROM b \\gset\n" +
        "\\if :even\nINSERT INTO b (v) VALUES ('even ' || :n);\n\\else\n" +
        "INSERT INTO b (v) VALUES ('odd ' || :n);\n\\endif\n" +
        "SELECT format('INSERT INTO c (v) VALUES (%L)', :n + i) FROM generate_series(1, 3) i\n" +
        "\\gexec\n"
    )
    val text = StringBuilder("SET search_path = public;\n")
    for table <- tables do
      text.append(s"CREATE TABLE $table (k int GENERATED ALWAYS AS IDENTITY, v text);\n")
    def copy(table: String, rows: Int): Unit =
      text.append(s"COPY $table (v) FROM STDIN;\n")
      for i <- 1 to rows do text.append(s"${random.nextInt(1000)} $i ${"v" * 340}\\\\\\N\n")
      text.append("\\.\n")
    for round <- 1 to 25 do
      def table = tables(random.nextInt(tables.size))
      random.nextInt(10) match
        case 0 | 1 =>
          for i <- 1 to 20 do text.append(s"INSERT INTO $table (v) VALUES ('$round $i');\n")
        case 2 =>
          text.append("BEGIN;\nSET LOCAL work_mem = '8MB';\n")
          for i <- 1 to 10 do text.append(s"INSERT INTO $table (v) VALUES ('t $round $i');\n")
          copy(table, 500)
          text.append(if random.nextBoolean() then "COMMIT;\n" else "ROLLBACK;\n")
        case 3 =>
          text.append(s"VACUUM $table;\n")
          text.append(s"CREATE INDEX CONCURRENTLY IF NOT EXISTS i_$round ON $table (k);\n")
        case 4 => copy(table, 100)
        case 6 => text.append(s"\\set t $table\n\\i $folder/part.sql\n")
        case 7 => text.append(s"\\copy $table (v) from $folder/rows.txt\n\\i $folder/deep.sql\n")
        case 5 =>
          text.append(s"UPDATE $table SET v = v || '!' WHERE v LIKE '5%';\n")
          text.append(s"SET my.round = '$round';\n")
          text.append(s"INSERT INTO $table (v) VALUES (current_setting('my.round'));\n")
        case _ => copy(table, 12000 + random.nextInt(9000))
    text.append(s"INSERT INTO a (v) VALUES (current_setting('my.round', true));\n").toString

  /** The contents of the tables, without what the script does not decide: the order of rows and the
    * numbers of the key.
    */
  private def state(database: String): List[String] = tables.map(table =>
    ask(database)(
      s"SELECT count(*) || ' ' || md5(string_agg(v, ',' ORDER BY v COLLATE \"C\")) FROM $table"
    )
  )

  private def start(database: String, file: Path, jobs: Int, place: Option[String]): Process =
    val java = ProcessHandle.current().info().command().orElse("java")
    val options = "-Xmx200m" :: WeirSuite.quickStart.toList
    val program =
      List("-cp", System.getProperty("java.class.path"), "weir.postgres.journal.ResumeProgram")
    val args = List(server.unix(database), file.toString, s"$jobs") ++ place
    ProcessBuilder((java :: options ::: program ::: args).asJava)
      .redirectErrorStream(true)
      .start()

  /** Runs the program until it ends by itself, killed `times` times before. Returns how often it
    * was killed while it worked.
    */
  private def runKilled(database: String, file: Path, jobs: Int, random: Random, times: Int): Int =
    var left = times
    var hits = 0
    var place = Option.empty[String]
    var done = false
    while !done do
      val process = start(database, file, jobs, place)
      val reader = process.inputReader()
      val lines = scala.collection.mutable.ListBuffer[String]()
      def next() =
        val line = reader.readLine()
        if line != null then lines += line
        line
      while Option(next()).exists(_ != "begun") do ()
      if lines.contains("begun") && left > 0 then
        left -= 1
        // Early moments are as likely as late ones, by their order of magnitude.
        LockSupport.parkNanos((1e6 * math.pow(1500, random.nextDouble())).toLong)
        if process.isAlive then hits += 1
        process.toHandle.destroyForcibly(): Unit // which leaves its output to be read
      while next() != null do ()
      if !process.waitFor(60, TimeUnit.SECONDS) then fail(s"It has not ended: $lines")
      process.exitValue match
        case 0 => done = true
        case 137 => ()
        case 3 =>
          // The index may be created twice.
          place = lines.find(_.startsWith("uncertain")).map(_.drop(10))
        case other => fail(s"exit code $other: ${lines.mkString("\n")}")
      if process.exitValue != 3 then place = None
    hits

  for jobs <- List(1, 2) do
    test(s"killed again and again, the tables are those of one clean run, over $jobs connections"):
      val seed = Tier.seed("weir.sql.seed")
      val random = Random(seed)
      val folder = Files.createTempDirectory("weir-kill")
      val text = script(random, folder)
      val file = folder.resolve("script.sql")
      Files.writeString(file, text)
      try
        val clean = server.newDatabase()
        apply(clean, text): Unit
        val expected = state(clean)
        var hits = 0
        var databases = 0
        while hits < kills do
          val killed = server.newDatabase()
          databases += 1
          hits += runKilled(killed, file, jobs, random, kills - hits)
          assertEquals(state(killed), expected, s"-Dweir.sql.seed=$seed")
          assertEquals(ask(killed)("SELECT count(*) FROM weir_sql.part"), "0")
        println(s"jobs $jobs, seed $seed: killed $hits times at work, $databases databases")
      finally
        Files.list(folder).forEach(Files.delete(_))
        Files.delete(folder)
