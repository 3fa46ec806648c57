import { printExportLine } from "@gatehouse/ledger-format/export";
import { sealed, testChain, type TestChain } from "../../../packages/ledger-format/src/test-chain.ts";

/** Tampered exports, reproducible by seed. */

type Line = Record<string, any>;

/** A seeded generator of integers below `limit` (mulberry32). */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const ODD: readonly unknown[] = [
  null,
  "",
  "x",
  0,
  -1,
  1,
  3,
  4.5,
  7.0,
  2 ** 53,
  1e300,
  true,
  false,
  [],
  {},
  "\ud800",
  "é 𝔘 \u2028",
  "ab".repeat(32),
  "AB".repeat(32),
  "2026-11-21T10:00:00.000000Z",
  "2026-02-31T10:00:00.000000Z",
  "2027-01-01T00:00:00.000000Z",
  "AAAA",
  "AAAA====",
  "01JQ0000000000000000000001",
];
/** What a line is replaced or broken with. */
const NOISE = [
  "",
  "\r",
  " ",
  "{",
  "null",
  "[]",
  "{}",
  '"row"',
  '{"type":"row"}',
  '{"type":"row","row":[]}',
  '{"type":"nothing"}',
  '{"type":"toString"}',
  '{"type":["row"]}',
  '{"type":"link","chain_seq":null,"prev_hash":"","row_hash":""}',
  '{"type":"checkpoint","chain_seq":NaN,"note":""}',
  '{"type":"key","name":"gw.audit","public_key":"AAAA","valid_from":null}',
  "\ufeff{}",
  `${"[".repeat(200_000)}`,
];

function linesOf({ chain, keys, entries }: TestChain): Line[] {
  const known = keys.map((key) => ({
    type: "key",
    name: key.name,
    key_id: key.keyId,
    public_key: key.publicKey,
    valid_from: key.validFrom,
    valid_to: key.validTo,
  }));
  return structuredClone([
    { type: "chain", writer: "w", exported_at: "2026-11-21T10:00:01.000000Z", ...chain },
    ...known,
    ...entries,
  ]) as Line[];
}

/** A complete export, some with pruned beginnings, withheld rows, no checkpoint at the end, or the older format. */
function whole(pick: (limit: number) => number): Line[] {
  const format = pick(4) === 0 ? "v1" : "v2";
  const rows = Array.from({ length: 9 }, (_, i) => ({
    timestamp: "2026-11-21T10:00:00.123456Z",
    tenant_id: "t",
    endpoint: ["/plain", 'a "quote"', "é 𝔘 \u2028"][i % 3] as string,
    http_status_code: 200 + i,
    success: i % 2 === 0,
    ...(format === "v2" ? { server_version: "1" } : {}),
  }));
  const made = testChain(rows, { format, open: pick(3) === 0, every: [2, 3, 9][pick(3)] as number });
  let lines = linesOf(made);
  if (pick(3) === 0) {
    const covered = lines.find(({ type }) => type === "checkpoint");
    const row = lines.find((line) => line.type === "row" && line.row.chain_seq === covered?.chain_seq);
    if (covered !== undefined && row !== undefined && covered.chain_seq < 9) {
      lines = lines.filter((line) => !(line.type === "row" ? line.row.chain_seq <= covered.chain_seq : line === covered));
      const [chain] = lines as [Line];
      chain.first_seq = covered.chain_seq + 1;
      lines.splice(2, 0, { type: "pruned", through_seq: covered.chain_seq, row_hash: row.row.row_hash, checkpoint: covered.note });
    }
  }
  if (pick(3) === 0)
    lines = lines.map((line) =>
      line.type === "row" && pick(2) === 0
        ? { type: "link", chain_seq: line.row.chain_seq, prev_hash: line.row.prev_hash, row_hash: line.row.row_hash }
        : line,
    );
  if (pick(3) === 0)
    Object.assign(lines[0] as Line, {
      exported_at: "2026-11-21T11:00:00.000000Z",
      ...(pick(2) === 0 ? { updated_at: "2026-11-21T11:00:00.000000Z" } : {}),
    });
  return lines;
}

/** Applies one random manipulation to an export. */
function change(lines: Line[], pick: (limit: number) => number): void {
  const at = pick(lines.length);
  const line = lines[at] as Line;
  const holder: Line = line.row ?? line;
  const names = Object.keys(holder);
  const name = names[pick(names.length)] as string;
  const ways = [
    () => void lines.splice(at, 1),
    () => void lines.splice(at, 1 + pick(3)),
    () => void lines.splice(pick(lines.length), 0, structuredClone(line)),
    () => void lines.splice(pick(lines.length), 0, ...lines.splice(at, 1)),
    () => void (holder[name] = ODD[pick(ODD.length)]),
    () => void delete holder[name],
    () => void (holder.chain_seq = pick(11)),
    () => {
      const text = String(holder[name]);
      const place = pick(text.length + 1);
      holder[name] = `${text.slice(0, place)}${["", "A", "1", "\n", "="][pick(5)] as string}${text.slice(place + 1)}`;
    },
    () => {
      if (line.row !== undefined && typeof line.row.chain_seq === "number")
        line.row = sealed(
          { ...line.row, endpoint: "/forged" },
          line.row.chain_seq,
          String(line.row.prev_hash).match(/^[0-9a-f]{64}$/)?.[0] ?? "0".repeat(64),
        );
    },
    () => {
      const [chain] = lines as [Line];
      const named = ["first_seq", "head_seq", "last_checkpoint_seq", "head_hash"][pick(4)] as string;
      chain[named] = named === "head_hash" ? "cd".repeat(32) : pick(11);
    },
  ];
  (ways[pick(ways.length)] as () => void)();
}

/** Duplicates one of the line's members, before or after the others: parsers differ in which duplicate they keep. */
function namedAgain(line: string, pick: (limit: number) => number): string {
  const places = [...line.matchAll(/(?<=^|"row":)\{|\}(?=\}?$)/g)].map(({ index, 0: brace }) => index + (brace === "{" ? 1 : 0));
  const members = [...line.matchAll(/"(\w+)":("[^"\\]*"|\d+|null)/g)].map(([member]) => member);
  if (members.length === 0) return line;
  const [place, member] = [places[pick(places.length)] as number, members[pick(members.length)] as string];
  const before = line[place] === "}";
  return line.slice(0, place) + (before ? `,${member}` : `${member},`) + line.slice(place);
}

/** The bytes of a tampered export file. */
export function tampered(seed: number): Uint8Array {
  const pick = numbers(seed);
  const lines = whole(pick);
  for (let left = pick(4); left > 0 && lines.length > 0; left--) change(lines, pick);
  const written = lines.map((line) => printExportLine(line as Parameters<typeof printExportLine>[0]).trimEnd());
  if (pick(6) === 0 && written.length > 0) {
    const at = pick(written.length);
    written[at] = namedAgain(written[at] as string, pick);
  }
  if (pick(4) === 0) written.splice(pick(written.length + 1), pick(2), NOISE[pick(NOISE.length)] as string);
  let text = written.join(pick(8) === 0 ? "\r\n" : "\n");
  if (pick(12) === 0) text = text.slice(0, pick(text.length + 1));
  const bytes = new TextEncoder().encode(text);
  if (pick(12) === 0 && bytes.length > 0) bytes[pick(bytes.length)] = 0xff;
  return bytes;
}
