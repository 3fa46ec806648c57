export const PRODUCT = "Gatehouse Console";
