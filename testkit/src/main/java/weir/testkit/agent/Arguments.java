package weir.testkit.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Takes the arguments of a call off the stack of one method, and puts them back. */
final class Arguments {
  /** The variables that it uses, by kind: each call uses them again. */
  private final Map<TypeKind, List<Integer>> slots = new EnumMap<>(TypeKind.class);

  /** Takes the arguments of a method of {@code type}. Returns the variables that they are in. */
  List<Integer> save(CodeBuilder code, MethodTypeDesc type) {
    var used = new EnumMap<TypeKind, Integer>(TypeKind.class);
    var saved = new ArrayList<Integer>();
    for (var parameter : type.parameterList()) {
      var kind = TypeKind.from(parameter).asLoadable();
      var free = slots.computeIfAbsent(kind, _ -> new ArrayList<>());
      var index = used.merge(kind, 1, Integer::sum) - 1;
      if (index == free.size()) free.add(code.allocateLocal(kind));
      saved.add(free.get(index));
    }
    for (int i = saved.size() - 1; i >= 0; i--)
      code.storeLocal(TypeKind.from(type.parameterType(i)).asLoadable(), saved.get(i));
    return saved;
  }

  void load(CodeBuilder code, MethodTypeDesc type, List<Integer> saved) {
    for (int i = 0; i < saved.size(); i++)
      code.loadLocal(TypeKind.from(type.parameterType(i)).asLoadable(), saved.get(i));
  }
}
