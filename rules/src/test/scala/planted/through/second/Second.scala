package planted.through.second

final class Second
