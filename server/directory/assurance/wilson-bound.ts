const Z = 1.959964;

/** The lower bound of the 95 % Wilson interval for the proportion `passed` / `cases`. */
export function wilsonLower(passed: number, cases: number): number {
  if (cases === 0) return 0;
  const share = passed / cases;
  const middle = share + Z ** 2 / (2 * cases);
  const spread = Z * Math.sqrt((share * (1 - share)) / cases + Z ** 2 / (4 * cases ** 2));
  return (middle - spread) / (1 + Z ** 2 / cases);
}
