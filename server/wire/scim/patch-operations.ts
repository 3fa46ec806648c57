import { type Ignored, isComplex, type ScimResourceType } from "./attributes.ts";
import { parsePath, type ScimPath } from "./path.ts";
import { ScimError } from "./scim-error.ts";

export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: ScimPath;
  readonly value: unknown;
}

const MAX_OPERATIONS = 1_000;

/** The operations of a PATCH body, one for each path. A value without a path is split by its attribute names, which may contain dots. */
export function readPatch(type: ScimResourceType, body: Record<string, unknown>, ignored: Ignored): PatchOperation[] {
  const given = memberOf(body, "Operations");
  if (!Array.isArray(given) || given.length === 0)
    throw new ScimError(400, "Operations must be an array of at least one operation.", "invalidSyntax");
  // Counts expanded operations: a value without a path is one operation for each of its members.
  let left = MAX_OPERATIONS;
  const operations = (one: unknown): PatchOperation[] => {
    if (!isComplex(one)) throw new ScimError(400, "An operation must be an object.", "invalidSyntax");
    const op = String(memberOf(one, "op")).toLowerCase();
    if (op !== "add" && op !== "replace" && op !== "remove")
      throw new ScimError(400, "op must be add, replace or remove.", "invalidSyntax");
    const path = memberOf(one, "path");
    const value = memberOf(one, "value");
    const isWhole = path === undefined || path === null || path === "";
    left -= isWhole && isComplex(value) ? Math.max(1, Object.keys(value).length) : 1;
    if (left < 0) throw new ScimError(413, `A PATCH has at most ${MAX_OPERATIONS} operations.`, "tooMany");
    if (isWhole) return withoutPath(type, op, value, ignored);
    if (typeof path !== "string") throw new ScimError(400, "path must be a string.", "invalidPath");
    return withPath(type, op, path, value, ignored);
  };
  return given.flatMap(operations);
}

function memberOf(object: Record<string, unknown>, name: string): unknown {
  const key = Object.keys(object).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

function withoutPath(type: ScimResourceType, op: PatchOperation["op"], value: unknown, ignored: Ignored): PatchOperation[] {
  if (op === "remove") throw new ScimError(400, "A remove needs a path.", "noTarget");
  if (!isComplex(value)) throw new ScimError(400, "An operation without a path needs an object as its value.", "invalidValue");
  return Object.entries(value)
    .filter(([name]) => !["id", "schemas", "meta"].includes(name.toLowerCase()))
    .flatMap(([name, one]) => withPath(type, op, name, one, ignored));
}

function withPath(type: ScimResourceType, op: PatchOperation["op"], text: string, value: unknown, ignored: Ignored): PatchOperation[] {
  const path = parsePath(type, text);
  if (path === null) {
    ignored(text.slice(0, 200));
    return [];
  }
  if (path.attribute?.readOnly === true || path.sub?.readOnly === true) {
    ignored(text.slice(0, 200));
    return [];
  }
  return [{ op, path, value }];
}
