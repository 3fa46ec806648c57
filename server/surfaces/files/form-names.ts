import { folded } from "../../kernel/text/folded-name.ts";
import { ambiguityOf } from "../../wire/json/ambiguous-name.ts";
import type { FieldProblem } from "../../wire/json/document.ts";

/** What is wrong with the names of a form's fields: those not known here, and those that readers may take for a known one or a sibling. */
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
