import { expect, test } from "bun:test";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { readPermissions } from "./source-permissions.ts";

const read = (mapping: unknown) => readPermissions(new TextEncoder().encode(JSON.stringify(mapping)));

test("the longest matching path prefix of whole names decides, and a path without one is readable by nobody", () => {
  const of = read({ hr: ["a"], "hr/pay/": ["b"], "hr/pay/open.md": ["*"], "legal//": ["c"] });
  const paths = ["hr/x.md", "hr", "hrold/x.md", "hr/pay/x.md", "hr/pay/open.md", "legal/x.md", "x.md"];
  expect(paths.map((path) => of?.(path).join())).toEqual(["a", "a", "", "b", "*", "c", ""]);
  expect(read({ "": ["everybody"], hr: [] })?.("x.md")).toEqual(["everybody"]);
  expect(read({ "/": ["everybody"], hr: [] })?.("hr/x.md")).toEqual([]);
});

test("an invalid permission mapping is rejected as a whole", () => {
  for (const one of [[], "all", { hr: "a" }, { hr: [""] }, { hr: [1] }, { hr: Array.from({ length: 10_001 }, () => "a") }])
    expect(read(one)).toBeNull();
  expect(readPermissions(new Uint8Array([0xff]))).toBeNull();
  expect(read({ hr: ["a"], padding: ["x".repeat(300)], [`${"y".repeat(5_000_000)}`]: [] })).toBeNull();
});

test("a hostile mapping is read in bounded time", () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`folder-${at}${"/".repeat(100)}x`, ["a"]]));
  const mapping = { ...many, [`${"/".repeat(2_000_000)}x`]: ["a"] };
  const paths = Array.from({ length: 20_000 }, (_, at) => `folder-${at}/${"deep/".repeat(20)}file.md`);
  const before = cpuMs();
  const of = read(mapping);
  for (const path of paths) of?.(path);
  expect(cpuMs(before)).toBeLessThan(5_000);
});
