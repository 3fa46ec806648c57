/** A placeholder of a value that was redacted before, or what is between its brackets. */
const PLACEHOLDER = /^\[?(?:REDACTED(?::[a-z_]*)?|([A-Z][A-Z_]{0,40}_\d{1,7}))\]?$/;

/** The form of placeholders for values that are put back; global. */
export function placeholderForm(): RegExp {
  return /\[[A-Z][A-Z_]{0,40}_\d{1,7}\]/g;
}

/** Whether an engine took a placeholder for a name or code. What also stands in the text without brackets may be one. */
export function isPlaceholder(value: string, withoutPlaceholders: string): boolean {
  const match = PLACEHOLDER.exec(value);
  if (match === null) return false;
  const [, name] = match;
  return name === undefined || !withoutPlaceholders.includes(name);
}
