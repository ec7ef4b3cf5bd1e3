package weir.rules

import java.nio.file.Files

class CheckoutSuite extends munit.FunSuite:
  test("the root is the folder with the build, from the folder of a module too"):
    assert(Files.isDirectory(Checkout.root.resolve("core/src/main")), Checkout.root)
