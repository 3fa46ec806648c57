import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  circles,
  longFunctions,
  MAX_FUNCTION_LINES,
  MAX_LINES,
  USUAL_LINES,
  sharedNames,
  violations,
} from "../tests/support/architecture.ts";
import { directConnections } from "../tests/support/direct-connections.ts";
import { reachedAroundGates } from "../tests/support/processes/reached-upstreams.ts";
import type { SourceFile } from "../tests/support/source-imports.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

function pathsBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : pathsBelow(path);
    return [path];
  });
}

const known = new Set(["server", "packages", "web", "tests"].flatMap(pathsBelow));
const files: readonly SourceFile[] = [...known]
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("tests/"))
  .map((path) => ({ path, source: readFileSync(join(ROOT, path), "utf8") }));

test("the source files follow the rules of the architecture", () => {
  expect(files.length).toBeGreaterThan(10);
  expect(violations(files, known)).toEqual([]);
});

test("no files import each other in a circle, type imports included", () => {
  expect(circles(files)).toEqual([]);
});

test(`no function has more than ${MAX_FUNCTION_LINES} lines`, () => {
  expect(longFunctions(files)).toEqual([]);
});

test(`half of the server's files have at most ${USUAL_LINES.half} lines, and nine of ten at most ${USUAL_LINES.nineOfTen}`, () => {
  const lengths = files
    .filter(({ path }) => path.startsWith("server/") && !path.endsWith(".test.ts"))
    .map(({ source }) => source.split("\n").length - 1)
    .toSorted((a, b) => a - b);
  const [half, nineOfTen] = [0.5, 0.9].map((part) => lengths[Math.floor(lengths.length * part)] as number);
  expect(half).toBeLessThanOrEqual(USUAL_LINES.half);
  expect(nineOfTen).toBeLessThanOrEqual(USUAL_LINES.nineOfTen);
});

test(`no test file has more than ${MAX_LINES.test} lines`, () => {
  const long = [...known].filter(
    (path) => /^tests\/.*\.tsx?$/.test(path) && readFileSync(join(ROOT, path), "utf8").split("\n").length - 1 > MAX_LINES.test,
  );
  expect(long).toEqual([]);
});

test("no call reaches a tool server or an agent except through an outlet, behind its gates", () => {
  expect(reachedAroundGates(files)).toEqual([]);
  const planted = (path: string, source: string) => reachedAroundGates([{ path, source }]);
  const imported = 'import type { ToolServerSend } from "../../upstreams/tool-servers/send.ts";\n';
  for (const around of [
    `${imported}export interface Parts { readonly send: ToolServerSend; }`,
    'type Send = import("../../upstreams/tool-servers/send.ts").ToolServerSend;',
    'import { agentUpstream as made } from "../../upstreams/agents/agent-client.ts";\nexport const agents = made(send);',
  ])
    expect(planted("server/services/tools/virtual-server.ts", around)).toEqual([expect.stringContaining("by an outlet")]);
  expect(planted("server/services/tools/virtual-server.ts", `${imported}export type Way = Outlet<ToolServerSend>;`)).toEqual([]);
  expect(
    planted("server/services/tools/definitions/discovery.ts", `${imported}export const find = (send: ToolServerSend) => send;`),
  ).toEqual([]);
});

test("nothing opens a connection but the client that checks addresses", () => {
  expect(directConnections(files)).toEqual([]);
  for (const source of [
    "export const page = async (url: string) => await fetch(url);",
    "export const page = (url: string) => fetch(url);",
    'import { request } from "node:https";\nrequest("https://a.example");',
    'import { isIP, connect } from "node:net";\nconnect(isIP("::1"));',
  ])
    expect(directConnections([{ path: "server/services/page.ts", source }])).toEqual([
      expect.stringContaining("opens a connection itself"),
    ]);
  const harmless = 'import { isIP } from "node:net";\nexport const page = async (url: string) => await outbound.fetch(url);';
  expect(directConnections([{ path: "server/services/page.ts", source: harmless }])).toEqual([]);
});

test("no exported name has two meanings", () => {
  expect(sharedNames(files)).toEqual([]);
});

test("a planted name with two meanings is found", () => {
  const planted = [
    { path: "server/road/a.ts", source: "export interface Verdict {}\nexport const one = 1;\n" },
    { path: "server/road/b.ts", source: 'export type Verdict = "yes";\nexport { one } from "./a.ts";\n' },
  ];
  expect(sharedNames(planted)).toEqual(["Verdict: server/road/a.ts, server/road/b.ts"]);
});

describe("circular imports", () => {
  const file = (path: string, source: string): SourceFile => ({ path, source });
  test("a planted circle of type imports is found", () => {
    const planted = [
      file("server/road/a.ts", 'import type { B } from "./b.ts";'),
      file("server/road/b.ts", 'import { type C } from "./c.ts";'),
      file("server/road/c.ts", 'export type { A } from "./a.ts";'),
      file("server/road/d.ts", 'import type { A } from "./a.ts";'),
    ];
    expect(circles(planted)).toEqual([["server/road/a.ts", "server/road/b.ts", "server/road/c.ts"]]);
  });
  test("a circle that only a test file closes is allowed", () => {
    expect(
      circles([file("server/road/a.ts", 'import { b } from "./b.test.ts";'), file("server/road/b.test.ts", 'import { a } from "./a.ts";')]),
    ).toEqual([]);
  });
});

test.each([
  "export function long() {",
  "const long: Handler = async (call) => {",
  "  #long<Part>(part: Part): void {",
  "  long: async (call) => {",
  "routes.add((call) => {",
])("a planted long function is found: %s", (head) => {
  const body = (lines: number) => `${head}\n${"    run();\n".repeat(lines)}${/^ */.exec(head)?.[0]}}\n`;
  expect(longFunctions([{ path: "server/road/a.ts", source: body(MAX_FUNCTION_LINES - 2) }])).toEqual([]);
  expect(longFunctions([{ path: "server/road/a.ts", source: body(MAX_FUNCTION_LINES) }])).toEqual([
    expect.stringContaining("server/road/a.ts:1"),
  ]);
});

describe("boundaries, with planted violations:", () => {
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
    ["server/road/road.ts", 'export { x } from "../surfaces/admin/people.ts";', "server/road/ may not import server/surfaces/"],
    // The boundaries between road, controls and services.
    ["server/road/road.ts", 'import { x } from "../store/rows.ts";', "server/road/ may not import server/store/"],
    ["server/road/road.ts", 'import { x } from "../upstreams/outlet.ts";', "server/road/ may not import server/upstreams/"],
    [
      "server/road/road.ts",
      'import type { X } from "../controls/limits/limits.ts";',
      "server/road/ may not import server/controls/limits/",
    ],
    [
      "server/road/road.ts",
      'import type { X } from "../services/models/dispatch.ts";',
      "server/road/ may not import server/services/models/",
    ],
    ["server/controls/limits/limits.ts", 'import { x } from "../../road/call.ts";', null],
    ["server/controls/limits/limits.ts", 'import { x } from "./plan.ts";', null],
    [
      "server/controls/parameters/clamped.ts",
      'import { x } from "../../services/tools/pass-through.ts";',
      "server/controls/parameters/ may not import server/services/tools/",
    ],
    [
      "server/controls/limits/limits.ts",
      'import type { X } from "../parameters/clamped.ts";',
      "server/controls/limits/ may not import server/controls/parameters/",
    ],
    [
      "server/controls/limits/limits.ts",
      'import { x } from "../../upstreams/outlet.ts";',
      "server/controls/limits/ may not import server/upstreams/",
    ],
    [
      "server/controls/limits/limits.ts",
      'import { x } from "../../store/rows.ts";',
      "server/controls/limits/ may not import server/store/",
    ],
    ["server/services/tools/pass-through.ts", 'import { x } from "../../upstreams/outlet.ts";', null],
    ["server/services/tools/authorization/broker.ts", 'import { x } from "../pass-through.ts";', null],
    [
      "server/services/tools/pass-through.ts",
      'import type { X } from "../models/dispatch.ts";',
      "server/services/tools/ may not import server/services/models/",
    ],
    [
      "server/services/tools/pass-through.ts",
      'import { x } from "../../controls/limits/limits.ts";',
      "server/services/tools/ may not import server/controls/limits/",
    ],
    [
      "server/services/tools/pass-through.ts",
      'import { x } from "../../surfaces/llm/chat.ts";',
      "server/services/tools/ may not import server/surfaces/",
    ],
    ["server/surfaces/llm/chat.ts", 'import { x } from "../../services/models/dispatch.ts";', null],
    // Attempts to bypass a boundary.
    ["server/surfaces/llm/chat.ts", 'type X = import("../../store/rows.ts").Row;', "may not import server/store/"],
    ["server/surfaces/llm/chat.ts", 'import { "a name" as x } from "../../store/rows.ts";', "may not import server/store/"],
    ["server/surfaces/llm/chat.ts", 'new Worker(new URL("../../store/rows.ts", import.meta.url));', "may not import server/store/"],
    ["server/surfaces/llm/chat.ts", 'const x = require("../../store/rows.ts");', "require() is no import"],
    ["server/surfaces/llm/chat.ts", 'const x = createRequire(import.meta.url)("../../store/rows.ts");', "require() is no import"],
    ["server/surfaces/llm/chat.ts", "const x = await import(`../../store/rows.ts`);", "names its file in a plain string"],
    ["server/surfaces/llm/chat.ts", 'const x = await import("../../store/" + name);', "names its file in a plain string"],
    ["server/surfaces/llm/chat.ts", 'import { x } from "@gatehouse/server/store/rows.ts";', "server/ may not import @gatehouse/server/"],
    [
      "server/surfaces/llm/chat.ts",
      'import type { X } from "@gatehouse/tests/support/database.ts";',
      "server/ may not import @gatehouse/tests/",
    ],
    ["server/services/models/dispatch.ts", 'export { x } from "../../upstreams/outlet.ts";', "may not hand on values of server/upstreams/"],
    [
      "server/services/models/dispatch.ts",
      'export type { X } from "../../upstreams/outlet.ts";',
      "may not hand on types of server/upstreams/",
    ],
    [
      "server/services/models/dispatch.ts",
      'import { x as y, z } from "../../upstreams/outlet.ts";\nexport { y };',
      "may not hand on values of server/upstreams/",
    ],
    ["server/services/models/dispatch.ts", 'import { x } from "../../upstreams/outlet.ts";\nexport { y };', null],
    ["server/directory/people.ts", 'export { x } from "../store/rows.ts";', "may not hand on values of server/store/"],
    ["server/directory/people.ts", 'export type { X } from "../store/rows.ts";', null],
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
    ["server/ledger/journal.ts", 'import { x } from "../compose/limits.ts";', "nothing imports the top"],
    ["server/compose.ts", 'import { x } from "./upstreams/outlet.ts";', null],
    ["server/compose/limits.ts", 'import { x } from "../upstreams/outlet.ts";', null],
    ["server/compose/limits.ts", 'import { x } from "../main.ts";', null],
    ["server/extras.ts", 'import { x } from "./upstreams/outlet.ts";', "stand at the top of server/"],
    ["server/plugins/one.ts", 'import { x } from "../kernel/ids.ts";', "is not in the table of layers"],
    ["server/kernel/clock.ts", "export const now = () => Bun.nanoseconds();", "only server/runtime/ may name Bun"],
    ["server/kernel/clock.ts", "const { nanoseconds } = Bun;", "only server/runtime/ may name Bun"],
    ["server/kernel/clock.ts", 'import { nanoseconds } from "bun";', "may import bun"],
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
    ["packages/contracts/src/models.ts", 'import { x } from "@gatehouse/web-kit/x.ts";', "imports nothing outside itself"],
    ["packages/contracts/src/models.ts", 'import { z } from "zod";', null],
    ["packages/ledger-format/src/fields.ts", 'import { z } from "zod";', "has no dependency"],
    ["server/kernel/index.ts", "", "names no idea"],
    ["server/kernel/utils.ts", "", "names no idea"],
    ["server/helpers/text.ts", "", "names no idea"],
    ["server/kernel/clock.ts", "\n".repeat(MAX_LINES.source + 1), `more than ${MAX_LINES.source}`],
    ["server/kernel/clock.ts", "\n".repeat(MAX_LINES.source), null],
    ["server/kernel/clock.test.ts", "\n".repeat(MAX_LINES.test + 1), `more than ${MAX_LINES.test}`],
  ];
  const targets = ["road/call.ts", "controls/limits/plan.ts", "controls/parameters/clamped.ts", "services/models/dispatch.ts", "main.ts"];
  const plantedPaths = new Set([...planted.map(([path]) => path), ...targets.map((path) => `server/${path}`), "tests/support/database.ts"]);

  for (const [path, source, found] of planted) {
    test(`${path}: ${found ?? "fine"}: ${source.trim().slice(0, 60)}`, () => {
      const lines = violations([{ path, source }], plantedPaths);
      if (found === null) expect(lines).toEqual([]);
      else expect(lines).toEqual([expect.stringContaining(found)]);
    });
  }
});

test("imports from the web kit into an app, and from one app into another, are violations", () => {
  const planted = [
    { path: "web/kit/src/a.ts", source: 'import { x } from "@gatehouse/web-portal/x.ts";' },
    { path: "web/portal/src/b.ts", source: 'import { y } from "../../console/src/y.ts";' },
    { path: "web/console/src/c.ts", source: 'import { z } from "@gatehouse/server/z.ts";' },
    { path: "web/console/src/d.ts", source: 'import { Button } from "@gatehouse/web-kit/button.tsx";' },
  ];
  expect(violations(planted, new Set(["web/console/src/y.ts"]))).toEqual([
    "web/kit/src/a.ts: web/kit/ may not import @gatehouse/web-portal/x.ts",
    "web/portal/src/b.ts: ../../console/src/y.ts leaves web/portal/",
    "web/console/src/c.ts: web/console/ may not import @gatehouse/server/z.ts",
  ]);
});
