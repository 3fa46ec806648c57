import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DenyIf } from "./argument-policy.ts";
import { shellAnalyzer } from "./shell.ts";

const ALL: readonly DenyIf[] = ["chaining", "substitution", "redirection", "expansion"];

function found(command: string): DenyIf[] {
  const findings = shellAnalyzer.inspect(command);
  return [...(findings.unparseable === null ? [] : ["unparseable" as const]), ...ALL.filter((rule) => findings.holds(rule, []))];
}

const CASES: readonly (readonly [command: string, found: readonly DenyIf[]])[] = [
  ["ls -la /tmp", []],
  ["echo 'a; b | c && d > e $(f) `g` $h'", []],
  ['echo "a; b | c > d"', []],
  ["echo a\\;b \\$x \\`y\\`", []],
  ["git commit -m 'it is done'\n", []],
  ['echo "cost: 5$"', []],
  ["ls; rm -rf /", ["chaining"]],
  ["ls && rm x", ["chaining"]],
  ["ls || rm x", ["chaining"]],
  ["cat a | sh", ["chaining"]],
  ["sleep 5 &", ["chaining"]],
  ["ls\nrm x", ["chaining"]],
  ["ls\rrm x", ["chaining"]],
  ["(rm x)", ["chaining"]],
  ["echo $(rm x)", ["chaining", "substitution"]],
  ['echo "$(rm x)"', ["substitution"]],
  ["echo `rm x`", ["substitution"]],
  ['echo "`rm x`"', ["substitution"]],
  ["diff <(a) <(b)", ["chaining", "substitution"]],
  ["ls > out", ["redirection"]],
  ["ls 2>&1", ["redirection"]],
  ["cat < in", ["redirection"]],
  ["cat <<EOF", ["redirection"]],
  ["ls >| out", ["redirection"]],
  ["echo $HOME", ["expansion"]],
  ['echo "${PATH}"', ["expansion"]],
  ["echo $1 $? $$ $@", ["expansion"]],
  ["echo 'unclosed", ["unparseable"]],
  ['echo "unclosed', ["unparseable"]],
  ["echo $'a\\'; rm x; '", ["unparseable", "chaining", "expansion"]],
  ["sort -t $'\\t' f", ["expansion"]],
  ["echo # it's\nrm x\n# '", ["chaining"]],
  ["echo 'a'\\''; b'", []],
  ["a 'b'\"c\"';d'", []],
];

describe("shell commands", () => {
  for (const [command, expected] of CASES) test(JSON.stringify(command), () => expect(found(command)).toEqual([...expected]));

  test("a command behind a separator outside quotes is always found", () => {
    const quoted = fc.stringMatching(/^[a-z ;|&$`<>()"]{0,8}$/).map((text) => `'${text}'`);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom("a", "-x", "b\\;c", '"d e"', '"it\'s"'), quoted), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(";", "&&", "||", "|", "&", "\n"),
        (words, separator) => found(`${words.join(" ")} ${separator} rm`).includes("chaining"),
      ),
      { numRuns: 500 },
    );
  });

  test("characters within single quotes are data", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/['\0]/.test(text)),
        (text) => found(`echo '${text}'`).length === 0,
      ),
      { numRuns: 500 },
    );
  });

  test("a value that is not a string or contains NUL is unreadable", () => {
    for (const value of [5, null, ["ls"], "ls\0"]) expect(shellAnalyzer.inspect(value).unparseable).not.toBeNull();
  });
});
