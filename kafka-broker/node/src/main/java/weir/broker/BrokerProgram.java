package weir.broker;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * A node of Kafka, broker and controller in one, that lives as long as somebody is attached to it:
 * {@code FOLDER [key=value...]}, where the keys are those of Kafka's own configuration. It is a
 * cluster of its own, unless {@code node.id}, {@code listeners}, {@code controller.quorum.voters}
 * and {@code weir.cluster}, the id of the cluster, say otherwise.
 *
 * <p>To be attached is to hold a connection to its attachment port, which the system closes when a
 * process ends, however it ends. So the broker outlives no user, and each user may be killed.
 *
 * <p>Its data is in {@code FOLDER/data}. Once it serves, {@code FOLDER/broker} has its port, the
 * attachment port and its process id, and it has the {@code weir.topics}: {@code name:partitions},
 * with commas between them. With {@code weir.temporary=true} it deletes the folder at its end, and
 * with {@code weir.temporary=all} also the lock and the log beside it, and the folder of these if
 * nothing else is in it.
 */
public final class BrokerProgram {
  private static final int firstSeconds = 60;

  private final ServerSocket attachments;
  private final CountDownLatch first = new CountDownLatch(1);

  /** Guarded by this; below 0 once no more are taken. */
  private int attached = 0;

  private BrokerProgram(ServerSocket attachments) {
    this.attachments = attachments;
  }

  public static void main(String[] arguments) throws Exception {
    // A terminal sends Ctrl-C to all programs in it; who is attached decides, not the terminal.
    Signal.handle(new Signal("INT"), SignalHandler.SIG_IGN);
    Path folder = Path.of(arguments[0]);
    Properties given = new Properties();
    for (int at = 1; at < arguments.length; at++) {
      String[] pair = arguments[at].split("=", 2);
      given.setProperty(pair[0], pair[1]);
    }
    Object temporary = given.remove("weir.temporary");
    boolean keepsData = temporary == null || temporary.equals("false");
    int code = 1;
    KafkaRaftServer server = null;
    try {
      Files.createDirectories(folder);
      int port = free();
      String cluster = (String) given.remove("weir.cluster");
      String topics = (String) given.remove("weir.topics");
      Properties properties = properties(folder, port, free(), given);
      format(folder.resolve("data"), properties, cluster);
      server = new KafkaRaftServer(KafkaConfig.fromProps(properties), Time.SYSTEM);
      server.startup();
      String listener = properties.getProperty("advertised.listeners").split(",")[0];
      int served = Integer.parseInt(listener.substring(listener.lastIndexOf(':') + 1));
      if (topics != null && !topics.isEmpty()) create(topics, served);
      serve(folder, served);
      code = 0;
    } catch (Throwable error) {
      error.printStackTrace();
    }
    try {
      if (server != null && keepsData) server.shutdown();
      // Only now: who finds no file starts another one, which needs the data.
      delete(folder.resolve("broker").toFile());
      if (!keepsData) delete(folder.toFile());
      // The log of an error is for who waits for the start.
      if ("all".equals(temporary) && code == 0) {
        for (String beside : List.of(".lock", ".log"))
          delete(folder.resolveSibling(folder.getFileName() + beside).toFile());
        folder.toAbsolutePath().getParent().toFile().delete();
      }
    } finally {
      Runtime.getRuntime().halt(code);
    }
  }

  private static void serve(Path folder, int port) throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      BrokerProgram program = new BrokerProgram(socket);
      Thread.ofVirtual().start(program::accept);
      String state = port + " " + socket.getLocalPort() + " " + ProcessHandle.current().pid();
      Path part = folder.resolve("broker.part");
      Files.writeString(part, state);
      Files.move(part, folder.resolve("broker"), StandardCopyOption.REPLACE_EXISTING);
      program.awaitLast();
    }
  }

  /**
   * Creates the topics, and waits for their leaders. In a cluster this may be the first broker of
   * those that have their replicas.
   */
  private static void create(String topics, int port) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", "127.0.0.1:" + port);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(firstSeconds);
    try (Admin admin = Admin.create(settings)) {
      for (String topic : topics.split(",")) {
        String[] pair = topic.split(":");
        int count = Integer.parseInt(pair[1]);
        Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();
        for (int n = 0; n < count; n++)
          partitions.put(new TopicPartition(pair[0], n), OffsetSpec.latest());
        while (true) {
          try {
            NewTopic made = new NewTopic(pair[0], Optional.of(count), Optional.empty());
            admin.createTopics(List.of(made)).all().get();
            break;
          } catch (ExecutionException error) {
            if (error.getCause() instanceof TopicExistsException) break;
            boolean mayPass = error.getCause() instanceof InvalidReplicationFactorException;
            if (!mayPass || System.nanoTime() - deadline > 0) throw error;
            Thread.sleep(100);
          }
        }
        admin.listOffsets(partitions).all().get();
      }
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = attachments.accept();
        Thread.ofVirtual().start(() -> hold(socket));
      }
    } catch (IOException closed) {
      // the program ends
    }
  }

  /** Tells the other side that it is attached, and waits for its end. */
  private void hold(Socket socket) {
    try (socket) {
      synchronized (this) {
        if (attached < 0) return;
        attached += 1;
      }
      first.countDown();
      try {
        OutputStream out = socket.getOutputStream();
        out.write('A');
        out.flush();
        while (socket.getInputStream().read() >= 0) {}
      } finally {
        synchronized (this) {
          attached -= 1;
          notifyAll();
        }
      }
    } catch (IOException gone) {
      // the other side was killed
    }
  }

  private void awaitLast() throws InterruptedException {
    if (!first.await(firstSeconds, TimeUnit.SECONDS)) return;
    synchronized (this) {
      while (attached > 0) wait();
      attached = -1;
    }
  }

  private static Properties properties(Path folder, int port, int controller, Properties given) {
    Properties all = new Properties();
    String more = given.containsKey("weir.listeners") ? "," + given.remove("weir.listeners") : "";
    String moreAdvertised =
        given.containsKey("weir.advertised") ? "," + given.remove("weir.advertised") : "";
    all.setProperty("process.roles", "broker,controller");
    all.setProperty("node.id", "1");
    all.setProperty("controller.quorum.voters", "1@127.0.0.1:" + controller);
    String plain = "PLAINTEXT://127.0.0.1:" + port;
    all.setProperty("listeners", plain + ",CONTROLLER://127.0.0.1:" + controller + more);
    all.setProperty("advertised.listeners", plain + moreAdvertised);
    all.setProperty("controller.listener.names", "CONTROLLER");
    all.setProperty("inter.broker.listener.name", "PLAINTEXT");
    all.setProperty("log.dirs", folder.resolve("data").toString());
    all.setProperty("offsets.topic.replication.factor", "1");
    all.setProperty("offsets.topic.num.partitions", "1");
    // Or a broker that starts again may keep dead members of groups: docs/kafka.md.
    all.setProperty("offsets.load.buffer.size", "32768");
    all.setProperty("transaction.state.log.replication.factor", "1");
    all.setProperty("transaction.state.log.num.partitions", "1");
    all.setProperty("transaction.state.log.min.isr", "1");
    all.setProperty("share.coordinator.state.topic.replication.factor", "1");
    all.setProperty("share.coordinator.state.topic.num.partitions", "1");
    all.setProperty("share.coordinator.state.topic.min.isr", "1");
    all.setProperty("group.initial.rebalance.delay.ms", "0");
    all.setProperty("auto.create.topics.enable", "false");
    all.setProperty("num.partitions", "8");
    all.setProperty("log.cleaner.dedupe.buffer.size", "" + (16 << 20));
    all.setProperty("log.cleaner.threads", "1");
    all.setProperty("num.recovery.threads.per.data.dir", "1");
    all.putAll(given);
    return all;
  }

  private static void format(Path data, Properties properties, String cluster) throws Exception {
    if (Files.exists(data.resolve("meta.properties"))) return;
    PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
    new Formatter()
        .setNodeId(Integer.parseInt(properties.getProperty("node.id")))
        .setClusterId(cluster == null ? Uuid.randomUuid().toString() : cluster)
        .setControllerListenerName("CONTROLLER")
        .setMetadataLogDirectory(data.toString())
        .addDirectory(data.toString())
        .setReleaseVersion(MetadataVersion.latestProduction())
        .setPrintStream(nowhere)
        .run();
  }

  /** A port that was free a moment ago. */
  private static int free() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Deletes what it can: the broker still runs, and makes and removes files itself. */
  private static void delete(File file) {
    File[] inside = file.listFiles();
    if (inside != null) for (File each : inside) delete(each);
    file.delete();
  }
}
