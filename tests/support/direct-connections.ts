import { codeOf, isTest, type SourceFile } from "./source-imports.ts";

/** Uses of the global function; methods of the same name are called on something. */
const FETCHES = /(?:\bglobalThis\.|\b(?:await|return)\s+|=>\s*)fetch\(/;
const CONNECTS = /\bimport\s+(?!type\b)[^;]*?\bfrom\s*"(?:node:)?(?:http|https|http2|tls|dgram|undici)"/;
const NET = /\bimport\s+(?!type\b)\{([^}]*)\}\s*from\s*"(?:node:)?net"/g;
/** What `node:net` offers besides connections to others. */
const NO_CONNECTION = new Set(["isIP", "BlockList", "createServer"]);

/** The command line sends to the gateway that its user names. */
const ALLOWED = /^server\/(?:runtime\/|cli\/configuration\/admin-api\.ts$)/;

/** Files of the server that open connections themselves, past the client that checks addresses. */
export function directConnections(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith("server/") && !isTest(path) && !ALLOWED.test(path))
    .filter(({ source }) => {
      const taken = [...source.matchAll(NET)].flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()));
      return (
        FETCHES.test(codeOf(source).code) ||
        CONNECTS.test(source) ||
        taken.some((name) => name !== "" && !name.startsWith("type ") && !NO_CONNECTION.has(name))
      );
    })
    .map(({ path }) => `${path}: opens a connection itself; only server/runtime/outbound.ts checks the address that it connects to`);
}
