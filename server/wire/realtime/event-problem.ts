export interface EventProblem {
  readonly code: "invalid_event" | "unknown_event" | "unsupported_event" | "unsupported_parameter" | "ambiguous_name";
  readonly message: string;
  readonly param: string | null;
}

export const problem = (code: EventProblem["code"], message: string, param: string | null = null): EventProblem => ({
  code,
  message,
  param,
});
