addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.6.2")
addSbtPlugin("pl.project13.scala" % "sbt-jmh" % "0.4.8")
addSbtPlugin("com.github.sbt" % "sbt-ci-release" % "1.11.2")
addSbtPlugin("ch.epfl.scala" % "sbt-version-policy" % "3.2.1") // with MiMa
addSbtPlugin("com.github.sbt" % "sbt-unidoc" % "0.6.1")
addSbtPlugin("org.typelevel" % "laika-sbt" % "1.3.2") // the site

// Reads the site's pages.
libraryDependencies += "org.jsoup" % "jsoup" % "1.24.1"

// Unpack the Postgres of `--db embedded`.
libraryDependencies ++= Seq(
  "org.apache.commons" % "commons-compress" % "1.28.0",
  "org.tukaani" % "xz" % "1.10"
)
