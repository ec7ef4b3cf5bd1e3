package weir

private object X
