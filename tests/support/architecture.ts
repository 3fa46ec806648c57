import { dirname } from "node:path";
import { codeOf, type Import, importsOf, isTest, type SourceFile, unreadableImports } from "./source-imports.ts";

/**
 * What each folder of server/ may import besides itself. A name with a star stands for each folder below it, and two of these may not
 * import each other. The most specific line applies. ARCHITECTURE.md gives the reasons; folders not listed here may not exist.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  runtime: ["kernel"],
  wire: ["kernel"],
  store: ["runtime", "kernel"],
  directory: ["store", "runtime", "kernel"],
  ledger: ["store", "runtime", "kernel"],
  upstreams: ["wire", "runtime", "kernel"],
  road: ["directory", "ledger", "wire", "kernel"],
  "controls/*": ["road", "directory", "ledger", "wire", "kernel"],
  "services/*": ["road", "upstreams", "directory", "ledger", "wire", "kernel"],
  surfaces: ["services/*", "controls/*", "road", "wire", "kernel"],
  "surfaces/admin": ["services/*", "controls/*", "road", "directory", "ledger", "wire", "kernel"],
  "surfaces/portal": ["services/*", "controls/*", "road", "directory", "wire", "kernel"],
  "surfaces/scim": ["road", "directory", "wire", "kernel"],
  workers: ["services/*", "controls/*", "road", "directory", "ledger", "upstreams", "store", "wire", "kernel"],
  group: ["controls/*", "directory", "ledger", "store", "runtime", "kernel"],
  cli: ["ledger", "store", "runtime", "kernel"],
};

/** Records that directory/ returns are store/'s types: the only re-export of another folder, and only of types. */
const HANDS_ON_TYPES: Readonly<Record<string, string>> = { directory: "store" };

/** Our own packages, by who may import them. */
const PACKAGES_OF = {
  server: ["@gatehouse/contracts/", "@gatehouse/ledger-format/"],
  packages: ["@gatehouse/ledger-format/"],
  kit: [],
  app: ["@gatehouse/web-kit/", "@gatehouse/contracts/"],
};

/** The composition root, together with server/compose/: these files may import anything, and nothing below may import them. */
const TOP = ["main.ts", "compose.ts", "drivers.ts", "plane.ts", "routes.ts", "runtime-document.ts", "runtime-plane.ts", "welcome.ts"];

const namesRuntime = (path: string) => path.startsWith("server/runtime/") || path === "packages/scout/src/parse-config.ts";

const NO_NAMES = /^(utils?|helpers?|common|misc|index)(\.test)?(\.tsx?)?$/;
export const MAX_LINES = { source: 400, test: 500 };
/** Size guideline: most files are small, and one that outgrows this is checked for a second responsibility. */
export const USUAL_LINES = { half: 60, nineOfTen: 150 };
export const MAX_FUNCTION_LINES = 120;

function namesBun({ source }: SourceFile): boolean {
  return /\bBun\b/.test(codeOf(source).code);
}

interface Layer {
  /** Its line in the table. */
  readonly line: string;
  /** The folder itself; for a line with a star, one of its subfolders. */
  readonly folder: string;
}

/** The table line that applies to a file; undefined at the top of server/ and in server/compose/, which belongs to it. */
function layerOf(path: string): Layer | undefined {
  const [, first, second] = dirname(path).split("/");
  if (first === undefined || first === "compose") return undefined;
  const folder = second === undefined ? first : `${first}/${second}`;
  if (second !== undefined && folder in MAY_IMPORT) return { line: folder, folder };
  if (second !== undefined && `${first}/*` in MAY_IMPORT) return { line: `${first}/*`, folder };
  return { line: first, folder: first };
}

function layerViolations(path: string, { target, written, handsOn }: Import): string[] {
  const from = layerOf(path);
  if (from === undefined) return [];
  const allowed = MAY_IMPORT[from.line];
  if (allowed === undefined) return [`${path}: server/${from.folder}/ is not in the table of layers`];
  const to = layerOf(target);
  if (to === undefined) return [`${path}: imports ${written}, but nothing imports the top of server/`];
  // A folder with a line of its own inside another (surfaces/admin) may be imported within that folder.
  const inside = to.folder === from.folder || (!from.line.endsWith("/*") && to.folder.split("/")[0] === from.folder.split("/")[0]);
  if (!inside && !allowed.includes(to.line) && !allowed.includes(to.line.split("/")[0] ?? ""))
    return [`${path}: server/${from.folder}/ may not import server/${to.folder}/ (${written})`];
  const mayHandOn = inside || handsOn === null || (handsOn === "types" && HANDS_ON_TYPES[from.folder] === to.folder);
  return mayHandOn ? [] : [`${path}: server/${from.folder}/ may not hand on ${handsOn} of server/${to.folder}/ (${written})`];
}

const ours = (written: string, allowed: readonly string[]) =>
  !written.startsWith("@gatehouse/") || allowed.some((name) => written.startsWith(name));

/** The kit may import no app, and an app no other app; from the rest of the repository both may import only the contracts. */
function webViolations(path: string, { written, target, relative }: Import): string[] {
  const home = path.split("/").slice(0, 2).join("/");
  if (relative) return target.startsWith(`${home}/`) ? [] : [`${path}: ${written} leaves ${home}/`];
  return ours(written, home === "web/kit" ? PACKAGES_OF.kit : PACKAGES_OF.app) ? [] : [`${path}: ${home}/ may not import ${written}`];
}

function importViolations(file: SourceFile, known: ReadonlySet<string>): string[] {
  const { path } = file;
  return importsOf(file).flatMap((found) => {
    const { written, target, relative } = found;
    const problems: string[] = [];
    if (relative && !known.has(target)) problems.push(`${path}: ${written} does not resolve to a file`);
    if (isTest(path)) return problems;
    if (relative && (isTest(target) || target.startsWith("tests/"))) problems.push(`${path}: imports a test (${written})`);
    if (/^bun(:|$)/.test(written) && !namesRuntime(path)) problems.push(`${path}: only server/runtime/ may import ${written}`);
    if (path.startsWith("web/")) problems.push(...webViolations(path, found));
    else if (path.startsWith("packages/")) {
      const home = path.split("/").slice(0, 2).join("/");
      if ((relative && !target.startsWith(`${home}/`)) || !ours(written, PACKAGES_OF.packages))
        problems.push(`${path}: a package imports nothing outside itself (${written})`);
      if (home === "packages/ledger-format" && !relative && !written.startsWith("node:"))
        problems.push(`${path}: packages/ledger-format has no dependency (${written})`);
    } else if (relative && target.startsWith("server/")) problems.push(...layerViolations(path, found));
    else if (!ours(written, PACKAGES_OF.server)) problems.push(`${path}: server/ may not import ${written}`);
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
  const most = isTest(path) ? MAX_LINES.test : MAX_LINES.source;
  if (lines > most && !path.endsWith(".generated.ts")) problems.push(`${path}: ${lines} lines, more than ${most}`);
  if (isTest(path)) return problems;
  if (!namesRuntime(path) && namesBun(file)) problems.push(`${path}: only server/runtime/ may name Bun`);
  problems.push(...unreadableImports(file).map((problem) => `${path}: ${problem}`));
  return problems;
}

/** Every violation as a line that starts with the file's path. `known` are the files an import may resolve to. */
export function violations(files: readonly SourceFile[], known: ReadonlySet<string>): string[] {
  return files.flatMap((file) => [...fileViolations(file), ...importViolations(file, known)]);
}

/** Import cycles as sorted lists of files, type imports included. Tests are ignored. */
export function circles(files: readonly SourceFile[]): string[][] {
  const sources = files.filter(({ path }) => !isTest(path));
  const graph = new Map(
    sources.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ relative, starts }) => relative && !starts)
        .map(({ target }) => target),
    ]),
  );
  return strongComponents(graph)
    .filter((component) => component.length > 1 || graph.get(component[0] ?? "")?.includes(component[0] ?? ""))
    .map((component) => component.toSorted());
}

/** Tarjan's algorithm for strongly connected components. */
function strongComponents(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const at = order.size;
    order.set(node, at);
    let low = at;
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      const known = order.get(next);
      if (known === undefined) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, known);
    }
    lowest.set(node, low);
    if (low === at) found.push(open.splice(open.indexOf(node)));
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

/** Matches the first line of a function or method, or the line that opens the body of a function value. */
const FUNCTION_HEAD =
  /^( *)(?:(?:export )?(?:default )?(?:(?:private|public|protected|static|override|async|get|set|readonly) )*(?:function\*? |const \w+ = (?:async )?(?:function|\(|\w+ =>)|\*?#?\w+(?:<[^(]*>)?\()|.*=> [{(]$)/;

/**
 * Functions longer than allowed, in formatted source: a function ends at the closing brace with the indentation of its first line. Tests
 * are ignored.
 */
export function longFunctions(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, source }) => {
    if (isTest(path)) return [];
    const lines = source.split("\n");
    return lines.flatMap((line, at) => {
      const indent = FUNCTION_HEAD.exec(line)?.[1];
      if (indent === undefined || !/[{(]$/.test(line)) return [];
      const close = new RegExp(`^${indent}[})]`);
      let end = at + 1;
      // The head may span several lines, closed by the line that opens the body.
      while (end < lines.length && (!close.test(lines[end] ?? "") || lines[end]?.endsWith("{") === true)) end++;
      const length = end - at + 1;
      return length > MAX_FUNCTION_LINES ? [`${path}:${at + 1}: a function of ${length} lines, more than ${MAX_FUNCTION_LINES}`] : [];
    });
  });
}

const EXPORTED = /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type|let) (\w+)/gm;

/** Names exported by declarations in more than one file; each name must have one meaning. Tests are ignored. */
export function sharedNames(files: readonly SourceFile[]): string[] {
  const byName = new Map<string, Set<string>>();
  for (const { path, source } of files) {
    if (isTest(path)) continue;
    for (const [, name = ""] of source.matchAll(EXPORTED)) byName.set(name, (byName.get(name) ?? new Set()).add(path));
  }
  return [...byName].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].toSorted().join(", ")}`);
}
