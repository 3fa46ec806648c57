import { formatRelative } from "./formats.ts";

interface FieldError {
  readonly field: string;
  readonly message: string;
}

type Body = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const isBody = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value);

/** An unsuccessful answer of the gateway in any of its formats; status 0 if the gateway did not answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly fields: readonly FieldError[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** The unchanged body, for pages that explain more of it. */
  readonly body: unknown;

  constructor(status: number, headers: Headers, body: unknown, fallback: string) {
    const whole = isBody(body) ? body : {};
    const inner = isBody(whole.error) ? whole.error : {};
    super(text(whole.detail) ?? text(whole.error) ?? text(inner.message) ?? text(whole.message) ?? fallback);
    this.name = "ApiError";
    this.status = status;
    this.code = text(whole.code) ?? text(inner.code) ?? text(inner.type);
    this.fields = Array.isArray(whole.fields) ? (whole.fields as FieldError[]) : [];
    this.requestId = headers.get("x-request-id");
    const after = Number(headers.get("retry-after"));
    this.retryAfterSeconds = headers.has("retry-after") && Number.isFinite(after) ? after : null;
    this.body = body;
  }

  /** The error message for one field of the request. */
  fieldMessage(name: string): string | undefined {
    return this.fields.find(({ field }) => field === name)?.message;
  }
}

/** The gateway's message, with when to retry if the gateway says so. */
export function refusalWords(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : null;
  const now = Date.now();
  return seconds === null ? words : `${words} (${formatRelative(new Date(now + seconds * 1000).toISOString(), now)})`;
}

export async function apiErrorOf(response: Response): Promise<ApiError> {
  const raw = await response.text().catch(() => "");
  let body: unknown = raw;
  try {
    body = JSON.parse(raw);
  } catch {
    // Not every error is JSON.
  }
  return new ApiError(response.status, response.headers, body, response.statusText || `HTTP ${response.status}`);
}

export function fieldMessageOf(error: unknown, name: string): string | undefined {
  return error instanceof ApiError ? error.fieldMessage(name) : undefined;
}
