# The spectrum of a cosine in Julia:
#   RIDGE_C=/usr/lib/libridge_c.so.1 julia spectrum.jl
const libridge_c = get(ENV, "RIDGE_C", "libridge_c.so.1")

struct Dimension
    length::Int64
    input_stride::Int64
    output_stride::Int64
end

struct FftProblem
    struct_size::Csize_t
    kind::Cint
    precision::Cint
    axes::Csize_t
    loops::Csize_t
    axis::Ptr{Dimension}
    loop::Ptr{Dimension}
    real_kind::Ptr{Cint}
    scale::Cdouble
    in_place::Cint
    measured::Cint
    threads::Csize_t
end

const REAL_FORWARD, FLOAT64 = 2, 1

check(status) = status == 0 || error(unsafe_string(ccall((:ridge_last_error, libridge_c), Cstring, ())))

"The spectrum of real samples: n÷2+1 values."
function spectrum(x::Vector{Float64})
    axis = [Dimension(length(x), 1, 1)]
    y = Vector{ComplexF64}(undef, length(x) ÷ 2 + 1)
    plan = Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve axis begin
        problem = FftProblem(sizeof(FftProblem), REAL_FORWARD, FLOAT64, 1, 0, pointer(axis), C_NULL, C_NULL, 1.0, 0, 0, 1)
        check(ccall((:ridge_fft_plan_create, libridge_c), Cint, (Cstring, Ref{FftProblem}, Ref{Ptr{Cvoid}}), "host", problem, plan))
    end
    check(ccall((:ridge_fft_run, libridge_c), Cint, (Ptr{Cvoid}, Ptr{Float64}, Ptr{ComplexF64}), plan[], x, y))
    ccall((:ridge_fft_plan_free, libridge_c), Cvoid, (Ptr{Cvoid},), plan[])
    return y
end

n = 60
height, peak = findmax(abs.(spectrum(cos.(2π .* 7 .* (0:n-1) ./ n))))
println("peak at $(peak - 1) of height $(round(height; digits = 3))")
# A mistake is a status and a message.
try
    spectrum(Float64[])
catch mistake
    println(mistake.msg)
end
