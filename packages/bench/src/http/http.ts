export const measureHttp = async () => ({ measurements: [], bars: [] })
