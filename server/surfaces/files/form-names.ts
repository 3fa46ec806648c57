import { folded } from "../../kernel/text/folded-name.ts";
import { ambiguityOf } from "../../wire/json/ambiguous-name.ts";
import type { FieldProblem } from "../../wire/json/document.ts";

/** Problems with a form's field names: unknown ones, and ones that parsers might confuse with a known name or each other. */
export function nameProblems(names: Iterable<string>, known: ReadonlySet<string>): FieldProblem[] {
  const seen = new Map([...known].map((name) => [folded(name), name]));
  const problems: FieldProblem[] = [];
  for (const name of names) {
    if (known.has(name)) continue;
    const other = seen.get(folded(name));
    seen.set(folded(name), other ?? name);
    if (other === undefined) problems.push({ field: name, message: "is not known here" });
    else problems.push({ field: name, message: ambiguityOf({ name, other }), ambiguous: true });
  }
  return problems;
}
