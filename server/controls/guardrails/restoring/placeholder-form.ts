/** The form of placeholders for values that are put back; global. */
export function placeholderForm(): RegExp {
  return /\[[A-Z][A-Z_]{0,40}_\d{1,7}\]/g;
}
