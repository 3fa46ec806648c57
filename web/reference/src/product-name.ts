export const PRODUCT_NAME = "Gatehouse API";
