import type { AnswerCheck } from "../cases/case.ts";

/** Returns what is wrong with an answer, or undefined. */
export class AnswerChecker {
  readonly #check: AnswerCheck;
  readonly #end: Buffer;
  #knownLength = -1;

  constructor(check: AnswerCheck) {
    this.#check = check;
    this.#end = Buffer.from(check.endsWith);
  }

  problem(head: string, body: Buffer, length: number): string | undefined {
    if (!head.startsWith("HTTP/1.1 200 "))
      return `${head.slice(0, head.indexOf("\r\n"))}: ${body.toString("utf8", 0, Math.min(length, 300))}`;
    // Same length and end as an answer that was checked in full.
    if (length === this.#knownLength && this.#endsRight(body, length)) return undefined;
    const problem = this.#readInFull(body.toString("utf8", 0, length));
    if (problem === undefined) this.#knownLength = length;
    return problem;
  }

  #endsRight(body: Buffer, length: number): boolean {
    let end = length;
    while (end > 0 && (body[end - 1] as number) <= 32) end--;
    const start = end - this.#end.length;
    return start >= 0 && body.compare(this.#end, 0, this.#end.length, start, end) === 0;
  }

  #readInFull(text: string): string | undefined {
    const missing = this.#check.contains.find((part) => !text.includes(part));
    if (missing !== undefined) return `the answer lacks ${missing}: ${text.slice(0, 300)}`;
    if (!text.trimEnd().endsWith(this.#check.endsWith)) return `the answer ends with ${text.slice(-60)}`;
    if (this.#check.kind === "json") {
      try {
        JSON.parse(text);
      } catch {
        return `the answer is no JSON: ${text.slice(0, 300)}`;
      }
    } else {
      const frames = text.split("\n").filter((line) => line.startsWith("data:")).length;
      if (frames < (this.#check.frames ?? 0)) return `the stream has ${frames} frames of ${this.#check.frames}`;
    }
    return undefined;
  }
}
