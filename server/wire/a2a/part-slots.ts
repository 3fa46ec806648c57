import { isRawJson } from "../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { hasWords, holdsFile } from "../texts/other-texts.ts";
import { renameMember } from "../json/rename-member.ts";
import { addressSlots } from "../texts/text-documents.ts";
import { base64Readers, isTextFile } from "../texts/text-file.ts";
import type { AgentEvent } from "./shapes.ts";

/** A media type without room for other text. */
const PLAIN_MEDIA = /^(?:application|audio|font|image|model|multipart|text|video)\/[a-z.+-]{1,80}(?:; ?charset=utf-8)?$/i;

type Role = TextSlot["role"];

/**
 * Every text of a message, task or event, each replaceable in place: text parts, values and names at any depth of data
 * parts, text files, and the members beside the parts. The texts of one message are adjacent.
 */
export class PartSlots {
  readonly slots: TextSlot[] = [];
  /** Whether there are files that are not text, which guardrails cannot inspect. */
  unreadable = false;
  private readonly role: Role;

  constructor(role: Role) {
    this.role = role;
  }

  message(message: JsonValue | undefined): this {
    if (!isObject(message)) return this;
    this.parts(message.parts, message);
    this.json(message, "metadata");
    this.json(message, "extensions");
    this.id(message, "messageId");
    const { referenceTaskIds: tasks } = message;
    if (Array.isArray(tasks)) for (const at of tasks.keys()) this.id(tasks, at);
    return this;
  }

  artifact(artifact: JsonValue | undefined): this {
    if (!isObject(artifact)) return this;
    this.parts(artifact.parts, artifact);
    for (const name of ["name", "description", "metadata", "extensions"]) this.json(artifact, name);
    this.id(artifact, "artifactId");
    return this;
  }

  status(status: JsonValue | undefined): this {
    return isObject(status) ? this.message(status.message) : this;
  }

  task(task: JsonObject): this {
    this.status(task.status);
    if (Array.isArray(task.artifacts)) for (const one of task.artifacts) this.artifact(one);
    if (Array.isArray(task.history)) for (const one of task.history) this.message(one);
    this.json(task, "metadata");
    return this;
  }

  event({ kind, value }: AgentEvent): this {
    if (kind === "task") return this.task(value);
    if (kind === "message") return this.message(value);
    if (kind === "statusUpdate") this.status(value.status);
    else this.artifact(value.artifact);
    this.json(value, "metadata");
    return this;
  }

  /** Collects the texts of a member that carries free-form values from the sender. */
  json(holder: JsonObject, name: string): this {
    collect(holder, name, this.slots, this.role);
    return this;
  }

  /** Collects media types that carry more than a type, because a sender may put any text there. */
  mediaTypes(types: JsonValue | undefined): this {
    if (Array.isArray(types)) for (const at of types.keys()) this.mediaType(types, at);
    return this;
  }

  private mediaType(holder: JsonObject | JsonValue[], key: string | number): void {
    const type = (holder as JsonObject)[key];
    if (typeof type === "string" && !PLAIN_MEDIA.test(type)) collect(holder, key, this.slots, this.role);
  }

  /** An ID containing words separated by spaces is treated as text. */
  private id(holder: JsonObject | JsonValue[], key: string | number): void {
    const id = (holder as JsonObject)[key];
    if (typeof id === "string" && hasWords(id)) collect(holder, key, this.slots, this.role);
  }

  private parts(parts: JsonValue | undefined, owner: object): void {
    if (!Array.isArray(parts)) return;
    const rest: (() => void)[] = [];
    for (const part of parts) {
      if (!isObject(part)) continue;
      if (typeof part.text === "string") this.slots.push(textOf(part, "text", this.role, owner));
      else if (typeof part.raw === "string") rest.push(() => this.file(part));
      else for (const name of ["url", "data"]) if (part[name] !== undefined) rest.push(() => this.json(part, name));
      if (typeof part.url === "string" && holdsFile(part.url)) rest.push(() => this.fileWithin(part));
      for (const name of ["filename", "metadata"]) if (part[name] !== undefined) rest.push(() => this.json(part, name));
      rest.push(() => this.mediaType(part, "mediaType"));
    }
    for (const add of rest) add();
  }

  /** A URL may contain the file itself (`data:`). */
  private fileWithin(part: JsonObject): void {
    const found = addressSlots(part, "url", nameOf(part), this.role, () => undefined);
    this.slots.push(...found);
    if (found.length === 0) this.unreadable = true;
  }

  private file(part: JsonObject): void {
    const encoded = part.raw as string;
    const type = typeof part.mediaType === "string" ? part.mediaType.trim() : "";
    const isTextPart = isTextFile(type, nameOf(part));
    let isRead = false;
    for (const read of base64Readers(encoded)) {
      const bytes = read(encoded);
      const decoded = readable(bytes);
      isRead = decoded !== null && (isTextPart || type === "" || isPlain(decoded));
      // The media type is only the sender's claim: bytes that decode as text are inspected as text.
      if (!isRead && !isTextPart) continue;
      this.slots.push({
        role: this.role,
        kind: "text",
        text: decoded ?? bytes.toString("utf8"),
        replace(changed) {
          part.raw = Buffer.from(changed).toString("base64");
        },
      });
    }
    // Of other encodings only the ASCII part was readable, so the file still counts as unreadable.
    if (!isRead) this.unreadable = true;
  }
}

const nameOf = ({ filename }: JsonObject): string | null => (typeof filename === "string" ? filename : null);

/** Excludes text that is also a valid file of another kind (PDF, ZIP). */
const isPlain = (text: string): boolean => !text.includes("\0") && !/^(?:%PDF-|PK)/.test(text);

function readable(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function textOf(holder: JsonObject, name: string, role: Role, owner?: object): TextSlot {
  return textAt({ holder, key: name }, role, owner);
}

/** The location of a value: its container, and its current key, which changes if the key is renamed. */
interface Place {
  readonly holder: JsonObject;
  key: string;
}

function textAt(place: Place, role: Role, owner?: object): TextSlot {
  return {
    role,
    kind: "text",
    ...(owner === undefined ? {} : { owner }),
    get text() {
      return String(place.holder[place.key]);
    },
    replace(text) {
      place.holder[place.key] = text;
    },
  };
}

/** Collects every string, integer and member name at or below `holder[key]`, in order; a name follows its value. */
function collect(holder: JsonObject | JsonValue[], key: string | number, slots: TextSlot[], role: Role): void {
  collectAt({ holder: holder as JsonObject, key: String(key) }, slots, role);
}

function collectAt(place: Place, slots: TextSlot[], role: Role): void {
  const value = place.holder[place.key];
  if (typeof value === "string" || Number.isSafeInteger(value)) slots.push(textAt(place, role));
  else if (isRawJson(value)) {
    slots.push({
      role,
      kind: "text",
      text: JSON.stringify(value),
      replace(text) {
        place.holder[place.key] = text;
      },
    });
  } else if (Array.isArray(value)) value.forEach((_, index) => collect(value, index, slots, role));
  else if (isObject(value))
    for (const name of Object.keys(value)) {
      // Later slots must find the value under its new name.
      const member = { holder: value, key: name };
      collectAt(member, slots, role);
      slots.push({
        role,
        kind: "text",
        get text() {
          return member.key;
        },
        replace(changed) {
          member.key = renameMember(value, member.key, changed);
        },
      });
    }
}
