export interface Addresses {
  readonly runtime: string;
  readonly control: string;
}

/** The plane a line names, if it names one. */
function planeOf(line: string): keyof Addresses | undefined {
  if (/admin|control|console/i.test(line)) return "control";
  if (/runtime|gateway|portal|base_url/i.test(line)) return "runtime";
  return undefined;
}

/** Finds the two addresses in what has been printed so far: by the plane a line names, otherwise runtime first. */
export function addressesIn(text: string): Partial<Addresses> {
  const found: { runtime?: string; control?: string } = {};
  for (const line of text.split("\n")) {
    let from = 0;
    for (const match of line.matchAll(/https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):([1-9]\d*)/g)) {
      const plane = planeOf(line.slice(from, match.index)) ?? (found.runtime === undefined ? "runtime" : "control");
      if (Object.values(found).includes(match[0]) === false) found[plane] ??= match[0];
      from = match.index + match[0].length;
    }
  }
  return found;
}

/** Reads both streams for as long as the process lives (a full pipe would stall it) and resolves with the addresses. */
export function announcedAddresses(stdout: ReadableStream<Uint8Array>, stderr: ReadableStream<Uint8Array>, timeoutMs: number): Promise<Addresses> {
  let printed = "";
  let complaint = "";
  const { promise, resolve, reject } = Promise.withResolvers<Addresses>();
  // What it said, without the stack's lines and source excerpts.
  const said = () => `${complaint}\n${printed}`.split("\n").filter((line) => line.trim() !== "" && !/^\s*(at |\d+ \||\^)/.test(line));
  const fail = (reason: string) => reject(new Error(`${reason}: ${said().slice(-5).join(" | ")}`));
  const timer = setTimeout(() => fail("it printed no addresses in time"), timeoutMs);

  const read = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void) => {
    const decoder = new TextDecoder();
    for await (const piece of stream) take(decoder.decode(piece, { stream: true }));
  };
  const out = read(stdout, (text) => {
    if (printed.length > 100_000) return;
    printed += text;
    const complete = printed.slice(0, printed.lastIndexOf("\n") + 1);
    const { runtime, control } = addressesIn(complete);
    if (runtime !== undefined && control !== undefined) resolve({ runtime, control });
  });
  const err = read(stderr, (text) => {
    if (complaint.length < 100_000) complaint += text;
  });
  void Promise.all([out, err]).then(() => fail("it ended at the start"));
  return promise.finally(() => clearTimeout(timer));
}
