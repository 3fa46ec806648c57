import { describe, expect, test } from "bun:test";
import { posix } from "node:path";
import fc from "fast-check";
import { pathAnalyzer } from "./path.ts";

const ROOTS = ["/srv/data", "/tmp/out"];
const climbs = (path: string) => {
  const findings = pathAnalyzer.inspect(path);
  return findings.unparseable !== null || findings.holds("traversal", []);
};
const outside = (path: string, roots = ROOTS) => {
  const findings = pathAnalyzer.inspect(path);
  return findings.unparseable !== null || findings.holds("outside_roots", roots);
};

const NAME = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,6}[a-z]$/);
const PARENTS = [
  "..",
  "%2e%2e",
  "%2E.",
  ".%2e",
  "%252e%252e",
  "%25252e.",
  ".%u002e",
  "．．",
  ".\u200b.",
  "%c0%ae%c0%ae",
  ".. ",
  "%ef%bc%8e.",
];
const SLASHES = ["/", "\\", "%2f", "%5C", "%252f", "／", "//", "/./", "∕"];

describe("path traversal", () => {
  test("a parent directory between names is found, however it is encoded", () => {
    fc.assert(
      fc.property(
        fc.array(NAME, { maxLength: 3 }),
        fc.constantFrom(...PARENTS),
        fc.array(NAME, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...SLASHES),
        fc.constantFrom("", "/"),
        (before, parent, after, slash, start) => climbs(start + [...before, parent, ...after].join(slash)),
      ),
      { numRuns: 2_000 },
    );
  });

  test("ordinary names are not traversal", () => {
    fc.assert(
      fc.property(
        fc.array(NAME, { minLength: 1, maxLength: 6 }),
        fc.constantFrom("", "/", "./"),
        (names, start) => !climbs(start + names.join("/")),
      ),
      { numRuns: 1_000 },
    );
    for (const path of ["a..b/c", "...", "/a/.hidden", "100%.txt", "a b/c d.txt", "ünï.txt", "v1.2..3"])
      expect([path, climbs(path)]).toEqual([path, false]);
  });
});

describe("allowed roots of paths", () => {
  test("a path is inside the roots exactly if the system resolves it there", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("srv", "data", "tmp", "out", "..", ".", "x"), { minLength: 1, maxLength: 7 }), (parts) => {
        const path = `/${parts.join("/")}`;
        const real = posix.resolve(path);
        const inside = ROOTS.some((root) => real === root || real.startsWith(`${root}/`));
        // Climbing above the root is refused, whereas `resolve` stops there.
        return inside ? outside(path) === false || posix.join(".", ...parts).startsWith("..") || aboveTop(parts) : outside(path);
      }),
      { numRuns: 2_000 },
    );
  });

  test("paths inside and outside the roots are told apart", () => {
    for (const path of [
      "/srv/data",
      "/srv/data/",
      "/srv/data/a/b.txt",
      "a/b.txt",
      "./x",
      "a/../b",
      "/tmp/out/x",
      "file:///srv/data/x",
      "/srv//data/x",
    ])
      expect([path, outside(path)]).toEqual([path, false]);
    for (const path of [
      "/srv/database",
      "/etc/passwd",
      "/",
      "../x",
      "a/../../x",
      "/srv/data/../x",
      "~/x",
      "~root/x",
      "$HOME/x",
      "%APPDATA%/x",
      "C:\\x",
      "c:x",
      "//server/share",
      "\\\\server\\share",
      "/srv/data%2f..%2fx",
      "file:///etc/passwd",
      "/srv/data/\u0000/x",
      "/SRV/data/x",
    ])
      expect([path, outside(path)]).toEqual([path, true]);
    expect(outside("c:\\data\\x.txt", ["C:\\data"])).toBe(false);
    expect(outside("docs/a.md", ["docs"])).toBe(false);
    expect(outside("src/a.ts", ["docs"])).toBe(true);
    expect(outside("\\\\server\\share\\x", ["\\\\server\\share"])).toBe(false);
  });

  test("a value that is not a plain text path is unreadable", () => {
    for (const value of [5, null, {}, "a\nb", "x".repeat(20_000)]) expect(pathAnalyzer.inspect(value).unparseable).not.toBeNull();
  });
});

function aboveTop(parts: readonly string[]): boolean {
  let depth = 0;
  for (const part of parts) {
    if (part === "..") depth--;
    else if (part !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}
