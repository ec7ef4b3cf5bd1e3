package weir.console

import weir.WeirSuite
import weir.console.Json.json

class JsonSuite extends WeirSuite:

  test("odd texts are escaped"):
    val text = "a\"b\\c\n\t\u0000\u007f\u2028\ud800é</script>"
    val expected = "\"a\\\"b\\\\c\\u000a\\u0009\\u0000\\u007f\\u2028\\ud800é</script>\""
    assertEquals(text.json.text, expected)

  test("numbers are those of JSON: what is not finite becomes null"):
    val numbers = Vector(1.0, -0.5, 1e20, Double.NaN, Double.PositiveInfinity)
    assertEquals(numbers.map(_.json).json.text, "[1,-0.5,1.0E20,null,null]")

  test("fields and items"):
    val value = Json.fields("a" -> Vector.empty[Json].json, "b\"" -> Json.fields("c" -> true.json))
    assertEquals(value.text, "{\"a\":[],\"b\\\"\":{\"c\":true}}")
