import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { Malformed } from "./shapes.ts";

/** The array at path `at`. Throws `Malformed` for anything else. */
export function listAt(value: JsonValue | undefined, at: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new Malformed(at, "must be an array");
  return value;
}

export function objectAt(value: JsonValue | undefined, at: string): JsonObject {
  if (!isObject(value)) throw new Malformed(at, "must be an object");
  return value;
}

/** The members without those that are undefined or null. */
export function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const made: JsonObject = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined && value !== null) made[name] = value;
  return made;
}

/** Translates a v0.3 part to v1.0. */
export function newPart(value: JsonValue, at: string): JsonObject {
  const part = objectAt(value, at);
  const { metadata } = part;
  if (part.kind === "text") return { text: part.text, ...present({ metadata }) };
  if (part.kind === "data") return { data: objectAt(part.data, `${at}.data`), ...present({ metadata }) };
  if (part.kind !== "file") throw new Malformed(`${at}.kind`, "must be one of text, file, data");
  const file = objectAt(part.file, `${at}.file`);
  // The protocol's migration notes name these members differently from its schema; both are accepted.
  const raw = file.bytes ?? file.fileWithBytes;
  const url = file.uri ?? file.fileWithUri;
  return present({ raw, url, filename: file.name, mediaType: file.mimeType, metadata });
}

/** Translates a v1.0 part to v0.3. */
export function oldPart(value: JsonValue, at: string): JsonObject {
  const part = objectAt(value, at);
  const { metadata } = part;
  if (part.raw !== undefined || part.url !== undefined)
    return {
      kind: "file",
      file: present({ bytes: part.raw, uri: part.url, name: part.filename, mimeType: part.mediaType }),
      ...present({ metadata }),
    };
  // A v0.3 text or data part has no filename and no media type, so they go into its metadata.
  const beside = present({ filename: part.filename, mediaType: part.mediaType });
  const kept = Object.keys(beside).length === 0 ? metadata : { ...(isObject(metadata) ? metadata : {}), ...beside };
  if (part.text !== undefined) return { kind: "text", text: part.text, ...present({ metadata: kept }) };
  if (!isObject(part.data)) throw new Malformed(`${at}.data`, "must be an object: A2A v0.3 knows no other data");
  return { kind: "data", data: part.data, ...present({ metadata: kept }) };
}
