import { Parser } from "htmlparser2";
import { UnreadableDocument } from "./document-text.ts";
import type { ZipParts } from "./zip-parts.ts";

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlReader {
  /** `name` is given without its namespace prefix. */
  open?(name: string, attributes: XmlAttributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

const MAX_DEPTH = 512;
const MAX_ELEMENTS = 3_000_000;

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

/**
 * Parses the XML of a part as it is unpacked. Custom entities are not expanded and nothing is fetched, which rules out entity expansion
 * attacks.
 */
export async function readXml(parts: ZipParts, part: string, reader: XmlReader): Promise<void> {
  let [depth, elements] = [0, 0];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MAX_DEPTH) throw new UnreadableDocument(`Its elements stand in each other more than ${MAX_DEPTH} deep.`);
        if (++elements > MAX_ELEMENTS) throw new UnreadableDocument(`It has more than ${MAX_ELEMENTS} elements.`);
        reader.open?.(localName(name), attributes);
      },
      ontext: (text) => reader.text?.(text),
      onclosetag(name) {
        depth--;
        reader.close?.(localName(name));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new TextDecoder();
  await parts.each(part, (piece) => parser.write(decoder.decode(piece, { stream: true })));
  parser.end();
}

/** The relationships of a part by ID, without external targets. Targets are part names. */
export async function relationsOf(parts: ZipParts, part: string): Promise<Map<string, { readonly type: string; readonly target: string }>> {
  const slash = part.lastIndexOf("/");
  const folder = part.slice(0, slash);
  const relations = new Map<string, { type: string; target: string }>();
  await readXml(parts, `${folder}/_rels/${part.slice(slash + 1)}.rels`, {
    open(name, { Id: id, Type: type = "", Target: target, TargetMode: mode }) {
      if (name !== "Relationship" || id === undefined || target === undefined || mode === "External") return;
      const path = new URL(target, `file:///${folder}/`).pathname.slice(1);
      relations.set(id, { type: type.slice(type.lastIndexOf("/") + 1), target: decodeURIComponent(path) });
    },
  });
  return relations;
}
