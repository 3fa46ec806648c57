import type { FieldProblem } from "../json/document.ts";

/** Validates the input of an embeddings request; null if it is valid. */
export function problemOfEmbeddingsInput(input: unknown): FieldProblem | null {
  if (input === undefined) return { field: "input", message: "is required" };
  if (typeof input === "string") return input === "" ? { field: "input", message: "must not be empty" } : null;
  if (!Array.isArray(input))
    return { field: "input", message: "must be a text, a list of texts, a list of tokens or a list of lists of tokens" };
  if (input.length === 0) return { field: "input", message: "must not be empty" };
  const kinds = new Set(
    input.map((item) => (Array.isArray(item) && item.every(isToken) ? "tokens" : isToken(item) ? "token" : typeof item)),
  );
  const [kind] = kinds;
  return kinds.size === 1 && (kind === "string" || kind === "token" || kind === "tokens")
    ? null
    : { field: "input", message: "must hold only texts, only tokens or only lists of tokens" };
}

function isToken(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
