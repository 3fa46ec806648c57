import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkpointDigest, signCheckpoint } from "@gatehouse/ledger-format/checkpoint";
import { NotAnExport, printExportLine } from "@gatehouse/ledger-format/export";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";
import { VERDICTS } from "@gatehouse/ledger-format/verdict";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { wholeLines } from "@gatehouse/ledger-format/whole-lines";
import {
  CHAIN_ID,
  newSigner,
  rowAt,
  testChain,
  type TestChain,
  trust,
  WRITTEN_AT,
} from "../../../packages/ledger-format/src/test-chain.ts";
import { tampered } from "../../support/records/tampered-export.ts";

/** A verifier written only from the documentation comes to the same verdicts as ours. */
const CASES = Number(process.env.TAMPERED_EXPORTS ?? 600);
const PYTHON = process.env.MCP_PYTHON;
const SCRIPT = fileURLToPath(new URL("../../../docs/verify/verify_export.py", import.meta.url));

test("the reference page of the export lists the hashed fields in their order", () => {
  const page = readFileSync(fileURLToPath(new URL("../../../docs/reference/ledger-export.md", import.meta.url)), "utf8");
  expect(page).toContain(HASH_FORMATS.v2.map((name) => `\`${name}\``).join(", "));
});

if (PYTHON === undefined)
  console.log("The verifier in Python is left out: MCP_PYTHON names no Python with the packages of tests/e2e/tools/python-client.txt.");
else {
  const directory = mkdtempSync(join(tmpdir(), "gatehouse-export-in-python-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const rows = () =>
    ["plain", 'quote " and \\', "line\nfeed\t\u0001\u001f", "é 𝔘 \u2028 \u007f", "", "a/b"].map((endpoint, i) => ({
      timestamp: "2026-11-21T10:00:00.123456Z",
      tenant_id: "t",
      endpoint,
      http_status_code: 200 + i,
      success: i % 2 === 0,
      request_content_hash: "ab".repeat(32),
      error_message: "not hashed",
    }));

  async function found(chain: TestChain, ...publicKeys: string[]): Promise<string[]> {
    const trusted = publicKeys.length > 0 ? publicKeys : [chain.keys[0]?.publicKey ?? ""];
    const path = join(directory, `${crypto.randomUUID()}.jsonl`);
    const keys = chain.keys.map((key) =>
      printExportLine({
        type: "key",
        name: key.name,
        key_id: key.keyId,
        public_key: key.publicKey,
        valid_from: key.validFrom,
        valid_to: key.validTo,
      }),
    );
    writeFileSync(
      path,
      [
        printExportLine({ type: "chain", writer: "w", exported_at: "2026-11-21T10:00:01.000000Z", ...chain.chain }),
        ...keys,
        ...chain.entries.map(printExportLine),
      ].join(""),
    );
    const run = Bun.spawn([PYTHON as string, SCRIPT, path, ...trusted], { stdout: "pipe", stderr: "inherit" });
    const lines = (await new Response(run.stdout).text()).trim().split("\n");
    expect(await run.exited).toBe(lines.length > 1 ? 2 : 0);
    return lines.slice(0, -1);
  }

  test("the Python verifier finds chains of both formats intact, whatever text their rows contain", async () => {
    expect(await found(testChain(rows()))).toEqual([]);
    expect(
      await found(
        testChain(
          rows().map((row) => ({ ...row, request_content_hash: null })),
          { format: "v1" },
        ),
      ),
    ).toEqual([]);
  });

  test("the Python verifier accepts only rows at the start of a chain as pruned", async () => {
    const checkpoints = (chain: TestChain) => chain.entries.filter((entry) => entry.type === "checkpoint");
    const pruned = (chain: TestChain) => ({
      type: "pruned" as const,
      through_seq: 3,
      row_hash: rowAt(chain, 3).row_hash as string,
      checkpoint: checkpoints(chain)[0]?.note as string,
    });
    const after = (chain: TestChain, seq: number) =>
      chain.entries.filter(
        (entry) => (entry.type === "row" ? (entry.row.chain_seq as number) : entry.type === "checkpoint" ? entry.chain_seq : 0) > seq,
      );

    const dropped = testChain(rows());
    dropped.entries = [pruned(dropped), ...after(dropped, 3)];
    expect(await found({ ...dropped, chain: { ...dropped.chain, first_seq: 4 } })).toEqual([]);
    expect((await found(dropped))[0]).toBe("missing@1");
    const gap = testChain(rows());
    gap.entries = [...gap.entries.slice(0, 1), pruned(gap), ...after(gap, 3)];
    expect((await found(gap))[0]).toBe("missing@2");
    const whole = testChain(rows());
    expect(await found({ ...whole, entries: [pruned(whole), ...whole.entries] })).toEqual(["broken_link@3"]);
  });

  test("the Python verifier refuses a file with a second chain", async () => {
    const path = join(directory, "two.jsonl");
    const chain = printExportLine({ type: "chain", writer: "w", exported_at: "2026-11-21T10:00:01.000000Z", ...testChain([]).chain });
    writeFileSync(path, chain + chain);
    const run = Bun.spawn([PYTHON as string, SCRIPT, path], { stdout: "pipe", stderr: "pipe" });
    expect(await new Response(run.stderr).text()).toBe("verify_export.py: line 2: it begins a second chain\n");
    expect(await run.exited).toBe(3);
  });

  test("the Python verifier finds a chain signed by two keys intact only with both keys", async () => {
    const chain = testChain(rows());
    const first = chain.entries.find((entry) => entry.type === "checkpoint")?.note ?? "";
    const previous = checkpointDigest(`${first.split("\n\n")[0]}\n`);
    const rowHash = rowAt(chain, 6).row_hash as string;
    const signer = newSigner();
    const note = signCheckpoint({ chainId: CHAIN_ID, chainSeq: 6, rowHash, time: WRITTEN_AT, firstSeq: 4, previous }, signer);
    chain.entries[chain.entries.length - 1] = { type: "checkpoint", chain_seq: 6, note };
    chain.keys.push(trust(signer));
    const [before = "", after = ""] = chain.keys.map(({ publicKey }) => publicKey);
    expect(await found(chain, before, after)).toEqual([]);
    expect(await found(chain, after, before)).toEqual([]);
    expect(await found(chain, before)).toContain("checkpoint_invalid@6");
    expect(await found(chain, after)).toContain("checkpoint_invalid@3");
  });

  test("the Python verifier reports edits at their position", async () => {
    const edited = testChain(rows());
    rowAt(edited, 4).endpoint = "other";
    expect(await found(edited)).toEqual(["altered@4"]);
    const old = testChain(rows(), { format: "v1" });
    expect((await found(old))[0]).toBe("altered@1");
    const cut = testChain(rows());
    cut.entries = cut.entries.filter((entry) => entry.type !== "row" || entry.row.chain_seq !== 2);
    expect(await found(cut)).toEqual(["missing@2"]);
    const whole = testChain(rows());
    expect(await found(whole, newSigner().publicKey)).toEqual(["checkpoint_invalid@3", "checkpoint_invalid@6"]);
  });

  test.each<[string, string[], string]>([
    ["a missing file", [join(directory, "nowhere.jsonl")], "No such file"],
    ["a call without arguments", [], "python3 verify_export.py chain.jsonl"],
    ["an invalid public key", [SCRIPT, "AAAA"], "AAAA is not a public key"],
    ["a file that is not an export", [SCRIPT], "line 1: it is not JSON"],
  ])("the Python verifier refuses %s with a plain message", async (_name, args, says) => {
    const run = Bun.spawn([PYTHON as string, SCRIPT, ...args], { stdout: "pipe", stderr: "pipe" });
    const [out, told] = [await new Response(run.stdout).text(), await new Response(run.stderr).text()];
    expect([out, told.startsWith("verify_export.py: "), told.includes("Traceback"), await run.exited]).toEqual(["", true, false, 3]);
    expect(told).toContain(says);
  });

  /** Judges many files in one process: each line of stdin is a path, each line of output JSON. */
  const MANY = `
import contextlib, io, json, sys
sys.path.insert(0, ${JSON.stringify(dirname(SCRIPT))})
import verify_export
for path in sys.stdin.read().split("\\n"):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            code = verify_export.main([path])
        print(json.dumps([code, out.getvalue().split("\\n")[:-2]]))
    except verify_export.NotAnExport as problem:
        print(json.dumps([3, [str(problem)]]))
`;

  async function judged(file: Uint8Array): Promise<[number, string[]]> {
    try {
      const { verdict, findings } = await verifyExport(wholeLines([file]), { maxFindings: 10_000 });
      return [
        verdict === "intact" ? 0 : verdict === "unanchored" ? 1 : 2,
        findings.map((finding) => `${finding.verdict}@${finding.chain_seq}`),
      ];
    } catch (error) {
      if (error instanceof NotAnExport) return [3, [error.message]];
      throw error;
    }
  }

  test("both verifiers report the same findings for tampered exports", async () => {
    const files = Array.from({ length: CASES }, (_, seed) => tampered(seed));
    const paths = files.map((file, at) => {
      const path = join(directory, `tampered-${at}.jsonl`);
      writeFileSync(path, file);
      return path;
    });
    const run = Bun.spawn([PYTHON as string, "-c", MANY], { stdin: new Blob([paths.join("\n")]), stdout: "pipe", stderr: "inherit" });
    const theirs = (await new Response(run.stdout).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as [number, string[]]);
    expect(theirs).toHaveLength(files.length);
    const met = new Set<string>();
    for (const [at, file] of files.entries()) {
      const ours = await judged(file);
      expect([at, ...(theirs[at] ?? [])]).toEqual([at, ...ours]);
      for (const finding of ours[1]) met.add(finding.replace(/@.*|line \d+: /, ""));
    }
    // Every kind of finding occurred, and so did files that are not exports.
    for (const kind of [...VERDICTS.slice(0, -1), "it is not JSON", "it is not a line of an audit export"]) expect(met).toContain(kind);
    expect([...met].some((kind) => kind.startsWith('it names "'))).toBe(true);
  });
}
