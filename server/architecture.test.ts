import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * What each folder of server/ may import besides itself. A folder named with two parts overrules its parent's line.
 * ARCHITECTURE.md says why; a folder that is not here may not exist.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  runtime: ["kernel"],
  wire: ["kernel"],
  store: ["runtime", "kernel"],
  directory: ["store", "runtime", "kernel"],
  ledger: ["store", "runtime", "kernel"],
  upstreams: ["wire", "runtime", "kernel"],
  road: ["controls", "services", "directory", "ledger", "upstreams", "wire", "kernel"],
  controls: ["road", "services", "directory", "ledger", "upstreams", "wire", "kernel"],
  services: ["road", "controls", "directory", "ledger", "upstreams", "wire", "kernel"],
  surfaces: ["services", "controls", "road", "wire", "kernel"],
  "surfaces/admin": ["services", "controls", "road", "directory", "ledger", "wire", "kernel"],
  "surfaces/portal": ["services", "controls", "road", "directory", "wire", "kernel"],
  workers: ["services", "controls", "road", "directory", "ledger", "upstreams", "store", "wire", "kernel"],
  cli: ["ledger", "store", "runtime", "kernel"],
};

/** The files that put the parts together: they may import anything, and nothing below may import them. */
const TOP = ["main.ts", "compose.ts", "compose-runtime.ts", "drivers.ts", "plane.ts", "routes.ts", "runtime-plane.ts", "welcome.ts"];

const NO_NAMES = /^(utils?|helpers?|common|misc|index)(\.test)?(\.tsx?)?$/;
const MOST_LINES = 620;

interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly source: string;
}

interface Import {
  readonly written: string;
  /** Path from the root for a relative import, the name as written for a package. */
  readonly target: string;
  readonly relative: boolean;
}

const isTest = (path: string) => path.endsWith(".test.ts");

const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
const FROM = /(?:^|[\n;])\s*(?:import|export)\s[^"';]*?from\s*"(\d+)"|(?:^|[\n;])\s*import\s*"(\d+)"|\bimport\(\s*"(\d+)"/g;

/** The code without comments, and with each string replaced by its number: what a string says is not code. */
function codeOf(source: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  const code = source.replace(COMMENT_OR_STRING, (text) => (text.startsWith("/") ? "" : `"${strings.push(text.slice(1, -1)) - 1}"`));
  return { code, strings };
}

function importsOf({ path, source }: SourceFile): Import[] {
  const { code, strings } = codeOf(source);
  return [...code.matchAll(FROM)].map((match) => {
    const written = strings[Number(match[1] ?? match[2] ?? match[3])] ?? "";
    const relative = written.startsWith(".");
    return { written, relative, target: relative ? normalize(join(dirname(path), written)) : written };
  });
}

function namesBun({ source }: SourceFile): boolean {
  return /\bBun\s*\./.test(codeOf(source).code);
}

/** The line of the table a file stands under: `surfaces/admin`, `ledger`, or undefined at the top of server/. */
function layerOf(path: string): string | undefined {
  const [, ...folders] = dirname(path).split("/");
  const [first, second] = folders;
  return second !== undefined && `${first}/${second}` in MAY_IMPORT ? `${first}/${second}` : first;
}

function layerViolations(path: string, { target, written }: Import): string[] {
  const from = layerOf(path);
  if (from === undefined) return [];
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return [`${path}: server/${from}/ is not in the table of layers`];
  const to = layerOf(target);
  if (to === undefined) return [`${path}: imports ${written}, but nothing imports the top of server/`];
  const inside = to === from || to.split("/")[0] === from;
  return inside || allowed.includes(to.split("/")[0] ?? to) ? [] : [`${path}: server/${from}/ may not import server/${to}/ (${written})`];
}

function importViolations(file: SourceFile, known: ReadonlySet<string>): string[] {
  const { path } = file;
  return importsOf(file).flatMap((found) => {
    const { written, target, relative } = found;
    const problems: string[] = [];
    if (relative && !known.has(target)) problems.push(`${path}: ${written} does not resolve to a file`);
    if (isTest(path)) return problems;
    if (relative && (isTest(target) || target.startsWith("tests/"))) problems.push(`${path}: imports a test (${written})`);
    if (written.startsWith("bun:") && !path.startsWith("server/runtime/"))
      problems.push(`${path}: only server/runtime/ may import ${written}`);
    if (path.startsWith("packages/")) {
      const home = path.split("/").slice(0, 2).join("/");
      if ((relative && !target.startsWith(`${home}/`)) || written.startsWith("@gatehouse/server"))
        problems.push(`${path}: a package imports nothing outside itself (${written})`);
      if (home === "packages/ledger-format" && !relative && !written.startsWith("node:"))
        problems.push(`${path}: packages/ledger-format has no dependency (${written})`);
    } else if (relative && target.startsWith("server/")) problems.push(...layerViolations(path, found));
    else if (relative && !target.startsWith("tests/"))
      problems.push(`${path}: ${written} leaves server/; a package is imported by its name`);
    return problems;
  });
}

function fileViolations(file: SourceFile): string[] {
  const { path, source } = file;
  const problems: string[] = [];
  const bad = path.split("/").find((part) => NO_NAMES.test(part));
  if (bad !== undefined) problems.push(`${path}: ${bad} names no idea`);
  if (!isTest(path) && dirname(path) === "server" && !TOP.includes(path.slice("server/".length)))
    problems.push(`${path}: only ${TOP.join(", ")} stand at the top of server/`);
  const lines = source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
  if (lines > MOST_LINES) problems.push(`${path}: ${lines} lines, more than ${MOST_LINES}`);
  if (!isTest(path) && !path.startsWith("server/runtime/") && namesBun(file)) problems.push(`${path}: only server/runtime/ may name Bun`);
  return problems;
}

/** Every violation, each a line that starts with the file's path. `known` are the files an import may resolve to. */
function violations(files: readonly SourceFile[], known: ReadonlySet<string>): string[] {
  return files.flatMap((file) => [...fileViolations(file), ...importViolations(file, known)]);
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));

function pathsBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : pathsBelow(path);
    return [path];
  });
}

test("the code keeps to its architecture", () => {
  const known = new Set(["server", "packages", "tests"].flatMap(pathsBelow));
  const files = [...known]
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("tests/"))
    .map((path) => ({ path, source: readFileSync(join(ROOT, path), "utf8") }));
  expect(files.length).toBeGreaterThan(10);
  expect(violations(files, known)).toEqual([]);
});

describe("a planted violation is found", () => {
  const planted: readonly (readonly [path: string, source: string, found: string | null])[] = [
    ["server/surfaces/llm/chat.ts", 'import { x } from "../../upstreams/outlet.ts";', "server/surfaces/ may not import server/upstreams/"],
    ["server/surfaces/llm/chat.ts", 'import type { X } from "../../store/rows.ts";', "server/surfaces/ may not import server/store/"],
    ["server/surfaces/llm/chat.ts", 'import { x } from "../../directory/people.ts";', "server/surfaces/ may not import server/directory/"],
    ["server/surfaces/admin/people.ts", 'import { x } from "../../directory/people.ts";', null],
    ["server/surfaces/admin/people.ts", 'import { x } from "../../store/rows.ts";', "server/surfaces/admin/ may not import server/store/"],
    [
      "server/surfaces/admin/people.ts",
      'import { x } from "../../upstreams/outlet.ts";',
      "server/surfaces/admin/ may not import server/upstreams/",
    ],
    ["server/road/road.ts", 'import { x } from "../store/rows.ts";', "server/road/ may not import server/store/"],
    ["server/road/road.ts", 'export { x } from "../surfaces/admin/people.ts";', "server/road/ may not import server/surfaces/"],
    ["server/directory/people.ts", 'import { x } from "../road/road.ts";', "server/directory/ may not import server/road/"],
    ["server/ledger/journal.ts", 'import { x } from "../directory/people.ts";', "server/ledger/ may not import server/directory/"],
    ["server/upstreams/outlet.ts", 'import { x } from "../store/rows.ts";', "server/upstreams/ may not import server/store/"],
    ["server/store/rows.ts", 'const x = await import("../ledger/journal.ts");', "server/store/ may not import server/ledger/"],
    ["server/kernel/ids.ts", 'import "../store/rows.ts";', "server/kernel/ may not import server/store/"],
    ["server/wire/frames.ts", 'import {\n  x,\n} from "../runtime/seam.ts";', "server/wire/ may not import server/runtime/"],
    ["server/runtime/seam.ts", 'import { x } from "../store/rows.ts";', "server/runtime/ may not import server/store/"],
    ["server/cli/audit.ts", 'import { x } from "../road/road.ts";', "server/cli/ may not import server/road/"],
    ["server/workers/sweep.ts", 'import { x } from "../surfaces/llm/chat.ts";', "server/workers/ may not import server/surfaces/"],
    ["server/ledger/journal.ts", 'import { x } from "../compose.ts";', "nothing imports the top"],
    ["server/compose.ts", 'import { x } from "./upstreams/outlet.ts";', null],
    ["server/extras.ts", 'import { x } from "./upstreams/outlet.ts";', "stand at the top of server/"],
    ["server/plugins/one.ts", 'import { x } from "../kernel/ids.ts";', "is not in the table of layers"],
    ["server/kernel/clock.ts", "export const now = () => Bun.nanoseconds();", "only server/runtime/ may name Bun"],
    ["server/kernel/clock.ts", '// Bun.nanoseconds would do\nexport const text = "Bun.";', null],
    ["server/runtime/seam.ts", 'import { dlopen } from "bun:ffi";\nBun.gc();', null],
    ["server/kernel/clock.ts", 'import { dlopen } from "bun:ffi";', "may import bun:ffi"],
    ["server/kernel/clock.test.ts", 'import { test } from "bun:test";\nBun.gc();', null],
    ["server/kernel/clock.ts", 'import { x } from "./clock.test.ts";', "imports a test"],
    ["server/kernel/clock.ts", 'import { x } from "../../tests/support/database.ts";', "imports a test"],
    ["server/kernel/clock.test.ts", 'import { x } from "./gone.ts";', "does not resolve"],
    ["server/kernel/clock.ts", 'import { x } from "./ids";', "does not resolve"],
    ["server/kernel/clock.ts", 'import { x } from "../../packages/ledger-format/src/fields.ts";', "is imported by its name"],
    ["packages/contracts/src/models.ts", 'import { x } from "../../../server/kernel/ids.ts";', "imports nothing outside itself"],
    ["packages/contracts/src/models.ts", 'import { x } from "@gatehouse/server/kernel/ids.ts";', "imports nothing outside itself"],
    ["packages/contracts/src/models.ts", 'import { z } from "zod";', null],
    ["packages/ledger-format/src/fields.ts", 'import { z } from "zod";', "has no dependency"],
    ["server/kernel/index.ts", "", "names no idea"],
    ["server/kernel/utils.ts", "", "names no idea"],
    ["server/helpers/text.ts", "", "names no idea"],
    ["server/kernel/clock.ts", "\n".repeat(621), "more than 620"],
    ["server/kernel/clock.ts", "\n".repeat(620), null],
  ];
  const known = new Set([...planted.map(([path]) => path), "tests/support/database.ts"]);

  for (const [path, source, found] of planted) {
    test(`${path}: ${found ?? "fine"}: ${source.trim().slice(0, 60)}`, () => {
      const lines = violations([{ path, source }], known);
      if (found === null) expect(lines).toEqual([]);
      else expect(lines).toEqual([expect.stringContaining(found)]);
    });
  }
});
