// What GSL's configure would find, for WebAssembly.
#define HAVE_DECL_HYPOT 1
#define HAVE_DECL_EXPM1 1
#define HAVE_DECL_ACOSH 1
#define HAVE_DECL_ASINH 1
#define HAVE_DECL_ATANH 1
#define HAVE_DECL_LDEXP 1
#define HAVE_DECL_FREXP 1
#define HAVE_DECL_FINITE 1
#define HAVE_DECL_ISFINITE 1
#define HAVE_DECL_ISINF 1
#define HAVE_DECL_ISNAN 1
#define HAVE_DECL_LOG1P 1
#define HAVE_IEEE_COMPARISONS 1
#define HAVE_IEEE_DENORMALS 1
#define GSL_COERCE_DBL(x) (x)
#define RELEASED 1
#define VERSION "2.7.1"
#define RETURN_IF_NULL(x) if (!(x)) return
