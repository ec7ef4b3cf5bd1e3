package weir.testkit.agent;

/** Makes the sites of one method: the places of its code that call {@link Touch}. */
final class Sites {
  private final String self;
  private final String file;
  final boolean isUsers;

  /** The line of the instructions that come next; -1 if it is not known. */
  int line = -1;

  Sites(String self, String file, boolean isUsers) {
    this.self = self;
    this.file = file;
    this.isUsers = isUsers;
  }

  /** Returns the number of a new site of an access that is always one. */
  int at(int kind, String what, String operation) {
    return at(kind, false, false, what, operation);
  }

  /** Returns the number of a new site. */
  int at(int kind, boolean isPlain, boolean isChecked, String what, String operation) {
    return Touch.add(
        new Site(
            kind,
            isUsers,
            isPlain,
            isChecked,
            what,
            operation,
            self.replace('/', '.'),
            file,
            line));
  }

  static String simple(String owner) {
    var name = owner.substring(owner.lastIndexOf('/') + 1);
    return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
  }
}
