import { expect, test } from "bun:test";
import { readYaml } from "./yaml.ts";

test("a syntax error in JSON or YAML is reported with its line", () => {
  const faults: Record<string, number> = {
    '{"a": 1,\n "targets": [\n  {"b": "c" "d": 1}\n ]}': 3,
    '{"a": [1, 2,\n 3,,\n 4]}': 2,
    '{"a": [1, 2}\n}': 1,
    '{"a": "b,\n "c": 1}': 1,
    '{"a": 1,\n "b": {"c": 1}\n': 2,
    "models:\n  - name: a\n    url: b\n  - name: [c\n": 4,
    "a: 1\nb:\n  - c\n d: }{\n": 4,
  };
  for (const [text, line] of Object.entries(faults)) expect(() => readYaml(text), text).toThrow(new RegExp(`, in line ${line}$`));
});

test("valid JSON and YAML are read", () => {
  expect(readYaml('{"a": ["x", {"b": null}]}')).toEqual({ a: ["x", { b: null }] });
  expect(readYaml("a:\n  - { b: 1 }\n")).toEqual({ a: [{ b: 1 }] });
});
